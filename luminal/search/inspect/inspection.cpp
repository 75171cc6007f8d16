#include "luminal/search/inspect/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "luminal/base/errors.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"
#include "luminal/search/fusion/force_fusion.h"
#include "luminal/search/plan_request.h"
#include "luminal/search/saturate.h"

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

Inspection::Inspection(const Graph& graph, const InspectOptions& options)
    : graph_(graph), options_(options) {
  const std::vector<NodeId> needed = roots(graph);
  options_.search.sizes = representative_sizes(variables(graph), options.search.sizes);
  bool going = stage("rules", [&] {
    const RuleSet rules(options_.rules);
    rules.admitted(options_.admission);  // every group that is disabled is there
    terms_.emplace(rules);
  });
  if (!terms_) terms_.emplace();
  lowered_ = lower_graph(graph, needed, *terms_);
  going =
      going && stage("saturation", [&] { saturation_ = saturate(*terms_, options_.admission); });
  const std::string first_error = error_;
  const std::string first_stage = going ? "saturation" : failed_stage_;
  going = stage(first_stage.c_str(), [&] { facts_.emplace(graph, lowered_, *terms_); }) && going;
  if (!first_error.empty()) error_ = first_error;
  going = going && stage("terms", [&] {
            if (!is_whole()) throw UserError("not every value has terms that a kernel can compute");
            extracted_ = extract_terms(graph, lowered_, *terms_);
          });
  if (going) {
    stage("plan", [&] {
      const ChosenTerms chosen = choose_terms(extracted_->graph, options_.search.sizes);
      request_ = plan_request(graph, lowered_, *extracted_, chosen);
      force_fusion(options_.fusing, nullptr, *extracted_, request_);
      plan_ = find_plan(extracted_->graph, request_, options_.search);
    });
  }
}

const ClassFacts& Inspection::facts() const {
  if (!facts_) throw UserError("the e-graph can't be read: " + error_);
  return *facts_;
}

// What is broken is left to diagnosis: extraction takes terms as they are. A rule may make values
// that nothing needs and no kernel computes, such as calls of ops that the graph hasn't.
bool Inspection::is_whole() const {
  for (uint32_t node = 0; node < lowered_.value_of.size(); ++node) {
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
      fmt::format("there is no tensor '{}'; there is {}%0 … %{}", name, known, graph_.size() - 1));
}

}  // namespace luminal::search
