// The stages graph and data, before anything is compiled.
#include <fmt/format.h>

#include <algorithm>

#include "apps/inspect/debug/stages.h"
#include "luminal/base/errors.h"
#include "luminal/graph/text/text_lines.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal::debug {
namespace {

std::string type_of(const Node& node) {
  return fmt::format("{}{}", name(node.dtype), text(node.dims));
}

Finding seen_node(const Graph& graph, NodeId id) {
  std::vector<std::string> inputs;
  const Node& node = graph.node(id);
  for (NodeId input : node.inputs) inputs.push_back(graph.describe(input));
  return Finding{}
      .add("node", graph.describe(id))
      .add("op", std::string(name(node.op)))
      .add("type", type_of(node))
      .add("reads", inputs)
      .add("label", node.label);
}

// Checks that each variable is within its bounds, and that no unknown variable is bound.
void check_sizes(const Subject& subject, DebugStage& stage) {
  const std::vector<Expr> known = variables(*subject.graph);
  for (Expr variable : known) {
    const std::optional<int64_t> value = subject.sizes.find(variable.name());
    const std::string bounds =
        fmt::format("{} … {}", variable.lower_bound(), variable.upper_bound());
    stage.seen.push_back(Finding{}
                             .add("variable", std::string(variable.name()))
                             .add("value", value ? std::to_string(*value) : "")
                             .add("bounds", bounds));
    const bool fits = value && *value >= variable.lower_bound() && *value <= variable.upper_bound();
    if (fits) continue;
    stage.blame("bad-size")
        .add("op", std::string(variable.name()))
        .add("found", value ? std::to_string(*value) : "")
        .add("expected", bounds)
        .add("why", fmt::format("variable '{}' is {}", variable.name(),
                                value ? "outside of its bounds" : "not bound"))
        .add("way_out", std::string("bind it to a value within them, or declare wider bounds"));
  }
  for (const auto& [given, value] : subject.sizes.items()) {
    const bool there = std::ranges::any_of(known, [&](Expr of) { return of.name() == given; });
    if (there) continue;
    stage.blame("bad-size")
        .add("op", given)
        .add("found", std::to_string(value))
        .add("why", fmt::format("the graph has no variable '{}'", given))
        .add("way_out", std::string("leave it out, or correct its name"));
  }
}

// Reports the first dim that has no size, or a negative one; others follow from it.
void check_dims(const Subject& subject, const std::vector<NodeId>& order, DebugStage& stage) {
  for (NodeId id : order) {
    const Result<ResolvedDims> dims = resolve_dims(subject.graph->node(id).dims, subject.sizes);
    if (dims) continue;
    stage.blame("bad-size")
        .add("op", subject.graph->describe(id))
        .add("found", text_of(subject.sizes))
        .add("why", dims.why())
        .add("way_out", std::string("bind variables to values that fit together"));
    return;
  }
}

// A dtype or dims that differ from the leaf's; empty if they match.
std::string misfit(const Subject& subject, NodeId leaf, const TensorData& data) {
  const Node& node = subject.graph->node(leaf);
  if (data.dtype != node.dtype) {
    return fmt::format("it is {}, the data is {}", name(node.dtype), name(data.dtype));
  }
  const Result<ResolvedDims> dims = resolve_dims(node.dims, subject.sizes);
  if (dims && dims->sizes == data.dims) return {};
  return fmt::format("it is {} at {}, the data has other dims", text(node.dims),
                     text_of(subject.sizes));
}

void look_at_leaf(const Subject& subject, NodeId leaf, DebugStage& stage) {
  const Graph& graph = *subject.graph;
  const TensorData data = leaf_data(subject, leaf);
  const Numbers numbers = numbers_of(data);
  const Role role = graph.node(leaf).as<InputAttr>().role;
  stage.seen.push_back(Finding{}
                           .add("leaf", graph.describe(leaf))
                           .add("role", std::string(role_text(role)))
                           .add("type", type_of(graph.node(leaf)))
                           .add("values", digest_of(data))
                           .add("largest", fmt::format("{:.6g}", numbers.largest)));
  if (const std::string why = misfit(subject, leaf, data); !why.empty()) {
    stage.blame("wrong-data")
        .add("op", graph.describe(leaf))
        .add("why", why)
        .add("way_out", std::string("reshape or cast the data, or declare the leaf like it"));
    return;
  }
  if (numbers.n_nan == 0) return;
  stage.blame("nan-in-data")
      .add("op", graph.describe(leaf))
      .add("element", element_text(numbers.first_nan, data.dims))
      .add("found", std::string("nan"))
      .add("why", fmt::format("{} of its {} elements are NaN", numbers.n_nan, data.n_elements()))
      .add("way_out", std::string("look at where the data comes from"));
}

}  // namespace

bool look_at_graph(const Subject& subject, DebugReport& report) {
  DebugStage& stage = report.begin("graph", subject.plan);
  const Graph& graph = *subject.graph;
  std::vector<NodeId> order;
  try {
    verify(graph);
    order = topological_order(graph, roots(graph));
  } catch (const UserError& error) {
    stage.blame("graph-refused")
        .add("why", std::string(error.what()))
        .add("way_out", std::string("correct the graph at that place"));
    return false;
  }
  for (NodeId id : order) stage.seen.push_back(seen_node(graph, id));
  stage.summary = fmt::format("{} nodes, {} needed, {} leaves, {} outputs", graph.size(),
                              order.size(), graph.leaves().size(), graph.outputs().size());
  check_sizes(subject, stage);
  if (stage.causes.empty()) check_dims(subject, order, stage);
  return stage.causes.empty();
}

bool look_at_data(const Subject& subject, DebugReport& report) {
  DebugStage& stage = report.begin("data", subject.plan);
  const Graph& graph = *subject.graph;
  for (NodeId leaf : graph.leaves()) look_at_leaf(subject, leaf, stage);
  stage.summary = fmt::format("{} leaves", graph.leaves().size());
  if (!stage.causes.empty()) return false;
  if (const std::optional<BadElement> bad = first_wrong_index(subject)) {
    stage.blame("index-out-of-range")
        .add("op", graph.describe(bad->node))
        .add("element", bad->element)
        .add("found", bad->found)
        .add("why", bad->why)
        .add("way_out",
             std::string("check the index, or the number of rows of the indexed tensor"));
    return false;
  }
  return true;
}

}  // namespace luminal::debug
