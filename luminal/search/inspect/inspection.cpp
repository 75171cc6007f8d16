#include "luminal/search/inspect/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "luminal/base/errors.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"

namespace luminal::search {

template <typename Work>
bool Inspection::stage(const char* name, Work work) {
  try {
    work();
    return true;
  } catch (const std::exception& error) {
    failed_stage_ = name;
    error_ = error.what();
    return false;
  }
}

Inspection::Inspection(const Graph& graph, const PlanningOptions& options)
    : graph_(graph), options_(options) {
  const std::vector<NodeId> needed = roots(graph);
  options_.search.sizes = representative_sizes(variables(graph), options.search.sizes);
  const PhaseInput input{graph, needed, options_};
  bool going = stage("rules", [&] {
    RuleSet(options_.rules).admitted(options_.admission);  // checks that disabled groups exist
    run_phases(Phase::Terms, input, results_);
  });
  if (!going) {
    PlanningOptions plain;
    run_phases(Phase::Terms, {graph, needed, plain}, results_);
  }
  going = going && stage("saturation", [&] { run_phases(Phase::Saturated, input, results_); });
  const std::string first_error = error_;
  const std::string first_stage = going ? "saturation" : failed_stage_;
  going = stage(first_stage.c_str(),
                [&] { facts_.emplace(graph, results_.lowered, *results_.terms); }) &&
          going;
  if (!first_error.empty()) error_ = first_error;
  going = going && stage("terms", [&] {
            if (!is_whole()) throw UserError("not every value has terms that a kernel can compute");
            run_phases(Phase::Extracted, input, results_);
          });
  if (going) stage("plan", [&] { run_phases(Phase::Planned, input, results_); });
}

const ClassFacts& Inspection::facts() const {
  if (!facts_) throw UserError("the e-graph can't be read: " + error_);
  return *facts_;
}

// Whether extraction can run: it doesn't check terms, so a broken e-graph is left to diagnosis. A
// rule may make values that nothing needs and no kernel computes, such as calls of ops that aren't
// in the graph.
bool Inspection::is_whole() const {
  for (uint32_t node = 0; node < results_.lowered.value_of.size(); ++node) {
    const ClassFact* fact = facts_->of(NodeId{node});
    if (fact != nullptr && (!fact->computable || !fact->type)) return false;
  }
  return std::ranges::none_of(facts_->classes(),
                              [](const ClassFact& fact) { return fact.other_type.has_value(); });
}

NodeId Inspection::find_tensor(const std::string& name) const {
  std::string known;
  for (NodeId leaf : graph_.leaves()) {
    const std::string& leaf_name = graph_.node(leaf).as<InputAttr>().name;
    if (leaf_name == name) return leaf;
    known += "'" + leaf_name + "', ";
  }
  for (const Output& output : graph_.outputs()) {
    if (output.name.empty()) continue;
    if (output.name == name) return output.node;
    known += "'" + output.name + "', ";
  }
  for (uint32_t id = 0; id < graph_.size(); ++id) {
    if (name == fmt::format("%{}", id)) return NodeId{id};
  }
  if (graph_.size() == 0) throw UserError("the graph has no tensors");
  throw UserError(
      fmt::format("there is no tensor '{}'; known: {}%0 … %{}", name, known, graph_.size() - 1));
}

}  // namespace luminal::search
