#include <fmt/format.h>

#include <algorithm>

#include "luminal/graph/edit.h"
#include "luminal/graph/interpret/interpreter.h"
#include "luminal/graph/traverse.h"
#include "tests/random_graphs/trial.h"

namespace luminal::tests {
namespace {

// A name that no leaf has: cuts of earlier steps are leaves by now.
std::string new_name(const Graph& graph, NodeId cut) {
  std::string name = fmt::format("value {}", cut.index());
  auto is_taken = [&](NodeId leaf) { return graph.node(leaf).as<InputAttr>().name == name; };
  while (std::ranges::any_of(graph.leaves(), is_taken)) name += "'";
  return name;
}

// The trial with one result and, instead of `cut`, an input that holds its value.
Trial smaller(const Trial& trial, NodeId result, std::optional<NodeId> cut) {
  Trial made{.graph = std::make_unique<Graph>(),
             .fusion = trial.fusion,
             .numerics = trial.numerics,
             .target = trial.target,
             .threads = trial.threads,
             .check = trial.check,
             .rolling = trial.rolling,
             .runs = {}};
  std::unordered_map<NodeId, Tensor> inputs;
  const std::string cut_name = cut ? new_name(*trial.graph, *cut) : "";
  if (cut) {
    const Node& node = trial.graph->node(*cut);
    inputs.emplace(*cut, made.graph->input(cut_name, node.dims, node.dtype));
  }
  for (NodeId id : trial.graph->leaves()) {
    const Node& node = trial.graph->node(id);
    inputs.emplace(id, made.graph->input(node.as<InputAttr>().name, node.dims, node.dtype));
  }
  copy_subgraph(*trial.graph, {&result, 1}, *made.graph, inputs)[0].output("result");
  for (const TrialRun& run : trial.runs) {
    TrialRun& copy = made.runs.emplace_back(run);
    if (!cut) continue;
    auto data = [&](NodeId id) {
      return run.leaves.at(trial.graph->node(id).as<InputAttr>().name);
    };
    interpret::Interpreter interpreter(*trial.graph, run.bindings, data);
    copy.leaves[cut_name] = interpreter.values({&*cut, 1})[0];
  }
  return made;
}

// Leaves that nothing reads are gone in a copy of what the result needs.
Trial without_dead_leaves(const Trial& trial) {
  const NodeId result = trial.graph->outputs()[0].node;
  Trial made{.graph = std::make_unique<Graph>(),
             .fusion = trial.fusion,
             .numerics = trial.numerics,
             .target = trial.target,
             .threads = trial.threads,
             .check = trial.check,
             .rolling = trial.rolling,
             .runs = trial.runs};
  std::unordered_map<NodeId, Tensor> inputs;
  for (NodeId id : topological_order(*trial.graph, {&result, 1})) {
    const Node& node = trial.graph->node(id);
    if (node.op != Op::Input) continue;
    inputs.emplace(id, made.graph->input(node.as<InputAttr>().name, node.dims, node.dtype));
  }
  copy_subgraph(*trial.graph, {&result, 1}, *made.graph, inputs)[0].output("result");
  return made;
}

std::optional<Trial> failing(Trial trial) {
  if (!judge(trial).failure) return std::nullopt;
  return trial;
}

std::optional<Trial> one_result(const Trial& trial) {
  for (NodeId root : roots(*trial.graph)) {
    if (auto found = failing(smaller(trial, root, std::nullopt))) return found;
  }
  return std::nullopt;
}

// The first inner node, from the result down, that may just as well be an input; or an operand of
// the result that fails by itself.
std::optional<Trial> one_step(const Trial& trial) {
  const NodeId result = trial.graph->outputs()[0].node;
  std::vector<NodeId> order = topological_order(*trial.graph, {&result, 1});
  for (NodeId id : order) {
    if (id == result || trial.graph->node(id).op == Op::Input) continue;
    if (auto found = failing(smaller(trial, id, std::nullopt))) return found;
  }
  std::reverse(order.begin(), order.end());
  for (NodeId id : order) {
    const Node& node = trial.graph->node(id);
    if (id == result || node.inputs.empty()) continue;
    if (auto found = failing(smaller(trial, result, id))) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Trial> shrink(const Trial& trial) {
  std::optional<Trial> best = one_result(trial);
  if (!best) return std::nullopt;
  for (size_t run = 0; run < trial.runs.size(); ++run) {
    Trial single{.graph = best->graph->clone(),
                 .fusion = best->fusion,
                 .numerics = best->numerics,
                 .target = best->target,
                 .threads = best->threads,
                 .check = best->check,
                 .rolling = best->rolling,
                 .runs = {best->runs[run]}};
    if (auto found = failing(std::move(single))) {
      best = std::move(found);
      break;
    }
  }
  while (auto next = one_step(*best)) best = std::move(next);
  if (auto found = failing(without_dead_leaves(*best))) best = std::move(found);
  return best;
}

}  // namespace luminal::tests
