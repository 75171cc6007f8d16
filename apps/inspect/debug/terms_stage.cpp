// The stages rolled and terms: loops found in the graph, and the e-graph after its rules ran.
#include <fmt/format.h>

#include "apps/inspect/debug/stages.h"
#include "luminal/base/errors.h"
#include "luminal/graph/tensor.h"
#include "luminal/graph/traverse.h"
#include "luminal/search/inspect/diagnose.h"
#include "luminal/search/rolling/roll_graph.h"

namespace luminal::debug {
namespace {

using search::ClassFact;
using search::Inspection;
using search::RolledGraph;

// The first rolling that is offered; nullopt if nothing repeats.
std::optional<RolledGraph> rolled_of(const Subject& subject) {
  const search::PlanningOptions options = inspect_options(subject);
  const Graph& graph = *subject.graph;
  const auto ways = search::find_loops(graph, roots(graph), options.roll, options.search.sizes);
  if (ways.empty()) return std::nullopt;
  return search::roll_graph(graph, roots(graph), ways.front());
}

// A marker stands for what the loop body reads: one node per iteration, all of one type.
void check_marker(const Subject& subject, const RolledGraph& rolled,
                  const search::LoopMarker& marker, DebugStage& stage) {
  const Graph& graph = *subject.graph;
  const Node& leaf = rolled.graph->node(marker.leaf);
  const size_t trips = marker.loop > 0 ? rolled.trips[static_cast<size_t>(marker.loop)] : 1;
  std::vector<std::string> names;
  bool same = marker.stands_for.size() == trips;
  for (NodeId id : marker.stands_for) {
    names.push_back(graph.describe(id));
    const Node& node = graph.node(id);
    same = same && node.dtype == leaf.dtype && same_dims(node.dims, leaf.dims);
  }
  stage.seen.push_back(Finding{}
                           .add("marker", rolled.graph->describe(marker.leaf))
                           .add("type", fmt::format("{}{}", name(leaf.dtype), text(leaf.dims)))
                           .add("stands_for", names));
  if (same) return;
  stage.blame("rolled-disagrees")
      .add("op", graph.describe(marker.stands_for.front()))
      .add("why",
           fmt::format("{} iterations, but the tensors that they read differ in type", trips));
}

Finding seen_class(const Inspection& inspection, const ClassFact& fact, search::Terms& terms) {
  const search::ClassFacts& facts = inspection.facts();
  std::vector<std::string> lines;
  for (const egraph::Node& term : facts.snapshot().nodes_of(fact.id)) {
    std::string why;
    const bool usable = facts.is_usable(term, &why);
    lines.push_back(facts.text(term) +
                    (term.origin == egraph::kInitial
                         ? ""
                         : " by rule '" + terms.egraph.rule_name(term.origin) + "'") +
                    (usable ? "" : ": " + why));
  }
  const std::optional<NodeId> node = facts.node_of(fact.id);
  return Finding{}
      .add("class", fmt::format("#{}", fact.id.value))
      .add("node", node ? inspection.graph().describe(*node) : "")
      .add("type",
           fact.type ? fmt::format("{}{}", name(fact.type->dtype), text(fact.type->dims)) : "none")
      .add("computable", std::string(fact.computable ? "yes" : "no"))
      .add("terms", lines)
      .add("rules", facts.rules(fact.id));
}

// A user's rule that never matched is a remark, not a fault: it may not apply to this graph.
bool is_remark(const std::string& cause) {
  return cause == "rule-off" || cause == "guard-never-holds" || cause == "rule-unmatched";
}

void add_causes(const std::vector<Finding>& causes, DebugStage& stage) {
  for (const Finding& cause : causes) {
    if (is_remark(cause.at("cause"))) {
      Finding remark = Finding{}.add("remark", cause.at("cause"));
      for (const auto& [field, value] : cause.fields) {
        if (field != "cause") remark.fields.emplace_back(field, value);
      }
      stage.seen.push_back(std::move(remark));
      continue;
    }
    Finding& added = stage.blame(cause.at("cause"));
    for (const auto& [field, value] : cause.fields) {
      if (field != "cause") added.fields.emplace_back(field, value);
    }
  }
}

// Names from the original graph are more useful than those of its rolled form.
std::vector<Finding> causes_of(const Subject& subject, Inspection& inspection) {
  std::vector<Finding> causes = search::diagnose(inspection);
  if (causes.empty() || &inspection.graph() == subject.graph.get()) return causes;
  Inspection whole(*subject.graph, inspect_options(subject));
  std::vector<Finding> named = search::diagnose(whole);
  return named.empty() ? causes : named;
}

}  // namespace

bool look_at_rolled(const Subject& subject, DebugReport& report) {
  DebugStage& stage = report.begin("rolled", subject.plan);
  try {
    const std::optional<RolledGraph> rolled = rolled_of(subject);
    stage.summary = rolled ? rolled->summary : "nothing repeats";
    if (!rolled) return true;
    for (const search::LoopMarker& marker : rolled->markers) {
      check_marker(subject, *rolled, marker, stage);
    }
  } catch (const std::exception& error) {
    stage.blame("rolled-disagrees").add("why", std::string(error.what()));
  }
  return stage.causes.empty();
}

bool look_at_terms(const Subject& subject, DebugReport& report) {
  DebugStage& stage = report.begin("terms", subject.plan);
  std::optional<RolledGraph> rolled = rolled_of(subject);
  if (rolled) {
    for (NodeId root : rolled->roots) rolled->graph->tensor(root).keep();
  }
  const Graph& graph = rolled ? *rolled->graph : *subject.graph;
  Inspection inspection(graph, inspect_options(subject));
  for (const egraph::RuleReport& rule : inspection.saturation().rules) {
    if (rule.matches == 0) continue;
    stage.seen.push_back(Finding{}
                             .add("rule", rule.name)
                             .add("matches", std::to_string(rule.matches))
                             .add("new_terms", std::to_string(rule.new_tuples))
                             .add("unions", std::to_string(rule.unions)));
  }
  size_t classes = 0;
  if (inspection.has_facts()) {
    classes = inspection.facts().classes().size();
    for (const ClassFact& fact : inspection.facts().classes()) {
      stage.seen.push_back(seen_class(inspection, fact, inspection.terms()));
    }
  }
  stage.summary = fmt::format("{} classes, {} rules fired", classes, stage.seen.size() - classes);
  add_causes(causes_of(subject, inspection), stage);
  if (stage.causes.empty() && !inspection.failed_stage().empty()) {
    stage.blame("no-plan").add("why", inspection.failed_stage() + ": " + inspection.error());
  }
  return stage.causes.empty();
}

}  // namespace luminal::debug
