#include "luminal/search/inspect/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "luminal/base/errors.h"
#include "luminal/egraph/language/parser.h"
#include "luminal/graph/traverse.h"
#include "luminal/search/cuts/plan_cost.h"
#include "luminal/search/inspect/nearest_rule.h"
#include "luminal/search/inspect/why_off.h"

namespace luminal::search {
namespace {

Finding cause(const char* kind) { return Finding{}.add("cause", std::string(kind)); }

std::string text_of(const Type& type) {
  return fmt::format("{}{}", name(type.dtype), text(type.dims));
}

class Diagnosis {
 public:
  explicit Diagnosis(Inspection& inspection) : in_(inspection), graph_(inspection.graph()) {}

  std::vector<Finding> run() {
    if (in_.failed_stage() == "rules") {
      refused_rules();
      return std::move(causes_);
    }
    if (in_.failed_stage() == "saturation") failed_rule();
    if (!in_.has_facts()) return std::move(causes_);
    joined_types();
    missing_types();
    not_computable();
    if (in_.failed_stage() == "terms" && causes_.empty()) wrong_term();
    if (in_.failed_stage() == "plan") no_plan();
    if (in_.failed_stage() != "saturation") idle_rules();  // else matches aren't known
    return std::move(causes_);
  }

 private:
  const ClassFacts& facts() const { return in_.facts(); }

  void refused_rules() {
    const bool arity = in_.error().find(" takes ") != std::string::npos &&
                       in_.error().find(" argument") != std::string::npos;
    causes_.push_back(cause(arity ? "wrong-arity" : "rule-refused")
                          .add("rule", refused_rule())
                          .add("why", in_.error())
                          .add("way_out", std::string("correct the rule file at that place")));
  }

  // The rule at the place that the error names: FILE:LINE:COLUMN.
  std::string refused_rule() const {
    for (const RuleText& file : in_.options().rules) {
      const std::string start = rule_place(file.file, file.origin) + ":";
      if (!in_.error().starts_with(start)) continue;
      const auto line = std::strtoul(in_.error().c_str() + start.size(), nullptr, 10);
      try {
        std::string rule;
        for (const egraph::Command& command : egraph::parse(file.text, file.file)) {
          const auto* declared = std::get_if<egraph::RuleDeclaration>(&command.body);
          if (declared != nullptr && command.position.line <= line) rule = declared->name;
        }
        return rule;
      } catch (const UserError&) {
        return {};  // what can't be parsed has no names
      }
    }
    return {};
  }

  // The rule that an error names; an added rule before those that continued from its terms.
  std::string rule_in(const std::string& message) const {
    std::string named;
    for (const RuleInfo& rule : in_.rules().rules()) {
      if (message.find("'" + rule.name + "'") == std::string::npos) continue;
      if (!rule.is_embedded()) return rule.name;
      if (named.empty()) named = rule.name;
    }
    return named;
  }

  void failed_rule() {
    const bool types = in_.error().find("type") != std::string::npos;
    causes_.push_back(cause(types ? "joined-types" : "rule-failed")
                          .add("rule", rule_in(in_.error()))
                          .add("why", in_.error()));
  }

  void wrong_term() {
    causes_.push_back(cause("wrong-term")
                          .add("rule", rule_in(in_.error()))
                          .add("why", in_.error())
                          .add("way_out", std::string("correct what the rule makes")));
  }

  std::string op_text(egraph::ClassId id) const {
    const std::optional<NodeId> node = facts().node_of(id);
    if (node) return graph_.describe(*node);
    const auto nodes = facts().snapshot().nodes_of(id);
    return nodes.empty() ? fmt::format("#{}", id.value) : facts().text(nodes.front());
  }

  void joined_types() {
    for (const ClassFact& fact : facts().classes()) {
      if (!fact.other_type) continue;
      causes_.push_back(cause("joined-types")
                            .add("op", op_text(fact.id))
                            .add("rule", fact.joined_by)
                            .add("why", fmt::format("{} and {} are in one class",
                                                    text_of(*fact.type), text_of(*fact.other_type)))
                            .add("way_out", std::string("keep the type in the rule, by a Cast or "
                                                        "a condition")));
      return;  // its readers are joined too
    }
  }

  // The first classes of a chain without types: everything they read has one.
  void missing_types() {
    for (const ClassFact& fact : facts().classes()) {
      if (fact.type) continue;
      for (const egraph::Node& node : facts().snapshot().nodes_of(fact.id)) {
        const std::vector<egraph::ClassId> reads = facts().operands(node);
        const bool first = std::all_of(reads.begin(), reads.end(), [&](egraph::ClassId id) {
          return facts().of(id)->type.has_value();
        });
        std::string why;
        if (!first || facts().is_usable(node, &why)) continue;
        const egraph::Function& function = in_.terms().egraph.schema().function(node.function);
        // What lowering doesn't know at all is another cause.
        const bool known =
            node.function == in_.terms().cast || node.function == in_.terms().bitcast;
        if (!known) continue;
        causes_.push_back(cause("missing-dtype")
                              .add("op", op_text(fact.id))
                              .add("rule", rule_of(node))
                              .add("term", facts().text(node))
                              .add("why", why)
                              .add("way_out", fmt::format("let the rule make a {} whose type is "
                                                          "known",
                                                          function.name)));
        blamed_.insert(fact.id.value);
      }
    }
  }

  std::string rule_of(const egraph::Node& node) {
    return node.origin == egraph::kInitial ? "" : in_.terms().egraph.rule_name(node.origin);
  }

  // From each root down to the first class that has no usable term, or back to itself.
  void not_computable() {
    for (NodeId root : roots(graph_)) {
      const ClassFact* fact = facts().of(root);
      std::vector<egraph::ClassId> path;
      while (fact != nullptr && !fact->computable) {
        if (std::find(path.begin(), path.end(), fact->id) != path.end()) break;
        path.push_back(fact->id);
        fact = next_below(*fact);
      }
      if (path.empty()) continue;
      if (!blamed_.insert(path.back().value).second) continue;
      fact == nullptr ? blame_lowering(path.back()) : blame_cycle(path, fact->id);
    }
  }

  // An operand that can't be computed, of an otherwise usable term.
  const ClassFact* next_below(const ClassFact& fact) const {
    for (const egraph::Node& node : facts().snapshot().nodes_of(fact.id)) {
      if (!facts().is_usable(node)) continue;
      for (egraph::ClassId id : facts().operands(node)) {
        if (!facts().of(id)->computable) return facts().of(id);
      }
    }
    return nullptr;
  }

  void blame_lowering(egraph::ClassId id) {
    std::vector<std::string> terms;
    std::string why = "its terms were all removed";
    for (const egraph::Node& node : facts().snapshot().nodes_of(id)) {
      facts().is_usable(node, &why);
      terms.push_back(facts().text(node));
    }
    Finding found = cause("missing-lowering");
    found.add("op", op_text(id)).add("why", why).add("terms", terms);
    add_removers(found);
    add_nearest(found, id);
    causes_.push_back(std::move(found));
  }

  void blame_cycle(const std::vector<egraph::ClassId>& path, egraph::ClassId back_to) {
    std::vector<std::string> cycle;
    std::set<std::string> rules;
    for (auto it = std::find(path.begin(), path.end(), back_to); it != path.end(); ++it) {
      for (const egraph::Node& node : facts().snapshot().nodes_of(*it)) {
        cycle.push_back(fmt::format("#{} = {}", it->value, facts().text(node)));
      }
      for (const std::string& rule : facts().rules(*it)) rules.insert(rule);
    }
    Finding found = cause("cyclic");
    found.add("op", op_text(back_to))
        .add("rule", rules.empty() ? "" : *rules.begin())
        .add("why", std::string("each of its terms needs its own value"))
        .add("terms", cycle);
    add_removers(found);
    causes_.push_back(std::move(found));
  }

  void add_removers(Finding& found) const {
    std::vector<std::string> removers;
    for (const egraph::RuleReport& rule : in_.saturation().rules) {
      if (rule.removals > 0) removers.push_back(rule.name);
    }
    if (found.at("rule").empty() && !removers.empty()) found.add("rule", removers.front());
    found.add("removed_by", removers);
  }

  void add_nearest(Finding& found, egraph::ClassId id) {
    const std::optional<NearestRule> nearest =
        nearest_rule(in_, facts().snapshot().value(id), found.at("rule"));
    if (!nearest) return;
    found.add("nearest_rule", nearest->why.rule).add("guard", nearest->why.subject);
  }

  // The first op in the order of the graph whose own kernel fails while those of its operands
  // don't.
  void no_plan() {
    for (NodeId id : topological_order(graph_, roots(graph_))) {
      const kernel::ClassId value = in_.extracted()->class_of[id.index()];
      const PlanRequest request{.stored = {value}, .host_steps = {}, .boundaries = {}};
      PlanCost cost(in_.extracted()->graph, request, in_.options().search);
      std::vector<bool> cut = cost.forced();
      for (kernel::ClassId live : cost.live()) cut[live.index()] = true;
      const std::string why = cost.cost(cut).why;
      if (why.empty()) continue;
      Finding found = cause("over-limits");
      found.add("op", graph_.describe(id)).add("why", why);
      found.add("rules", in_.extracted()->rules[value.index()]);
      causes_.push_back(std::move(found));
      return;
    }
    causes_.push_back(cause("no-plan").add("why", in_.error()));
  }

  // The rules of the user and of custom ops that did nothing, and why. A backend's are for all
  // graphs: most of them match nothing in this one.
  void idle_rules() {
    for (const RuleInfo& rule : in_.rules().rules()) {
      if (rule.is_embedded() || rule.origin.by == RuleOrigin::By::Backend) continue;
      const std::optional<egraph::RuleId> id = in_.terms().egraph.find_rule(rule.name);
      if (!id || in_.saturation().rule(*id).matches > 0) continue;
      const std::optional<NearestRule> nearest = nearest_place(in_, *id);
      const std::string off = why_off(rule, in_.options().admission);
      if (!off.empty()) {
        Finding found = cause("rule-off");
        found.add("rule", rule.name).add("ruleset", rule.syntax.ruleset).add("why", off);
        if (nearest && nearest->why.outcome == egraph::WhyNot::Outcome::Matches) {
          found.add("would_match", graph_.describe(nearest->node));
        }
        causes_.push_back(std::move(found));
        continue;
      }
      if (!nearest) continue;
      const bool guard = nearest->why.outcome == egraph::WhyNot::Outcome::FailedGuard;
      causes_.push_back(cause(guard ? "guard-never-holds" : "rule-unmatched")
                            .add("rule", rule.name)
                            .add("op", graph_.describe(nearest->node))
                            .add(guard ? "guard" : "missing", nearest->why.subject)
                            .add("why", nearest->why.detail)
                            .add("found", nearest->why.found));
    }
  }

  Inspection& in_;
  const Graph& graph_;
  std::vector<Finding> causes_;
  std::set<uint32_t> blamed_;  // classes that a cause already names
};

}  // namespace

std::vector<Finding> diagnose(Inspection& inspection) { return Diagnosis(inspection).run(); }

std::string summary(const std::vector<Finding>& causes) {
  if (causes.empty()) return {};
  const Finding& first = causes.front();
  std::string line = first.at("cause");
  if (!first.at("op").empty()) line += " at " + first.at("op");
  if (!first.at("why").empty()) line += ": " + first.at("why");
  if (!first.at("rule").empty()) line += fmt::format("; look at rule '{}'", first.at("rule"));
  if (!first.at("nearest_rule").empty()) {
    line += fmt::format("; the nearest rule is '{}', which fails at {}", first.at("nearest_rule"),
                        first.at("guard"));
  }
  return line;
}

}  // namespace luminal::search
