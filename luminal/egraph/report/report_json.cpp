// A run report as JSON: the fields of report.h under the same names.
#include "luminal/base/text/json_text.h"
#include "luminal/egraph/report.h"

namespace luminal::egraph {
namespace {

using base::JsonText;

const char* key_of(StopReason reason) {
  switch (reason) {
    case StopReason::Finished:
      return "finished";
    case StopReason::NodeLimit:
      return "node-limit";
    case StopReason::ByteLimit:
      return "byte-limit";
    case StopReason::MatchLimit:
      return "match-limit";
    case StopReason::IterationLimit:
      return "iteration-limit";
    case StopReason::TimeLimit:
      return "time-limit";
  }
  return "unknown";
}

void write_counts(JsonText& json, const RuleCounts& counts, bool with_times) {
  json.field("candidates", counts.candidates);
  json.field("matches", counts.matches);
  json.field("new_facts", counts.new_facts());
  json.field("new_tuples", counts.new_tuples);
  json.field("updates", counts.updates);
  json.field("removals", counts.removals);
  json.field("unions", counts.unions);
  if (with_times) json.field("seconds", counts.seconds);
}

}  // namespace

std::string RunReport::json(bool with_times) const {
  constexpr auto kLine = JsonText::Layout::OnOneLine;
  JsonText json;
  json.begin_object();
  json.field("stop", key_of(stop));
  json.key("culprit");
  culprit.empty() ? json.null() : json.value(culprit);
  json.field("changed", changed);
  json.field("tuples_before", tuples_before);
  json.field("tuples", tuples);
  json.field("classes", classes);
  if (with_times) {
    json.key("seconds");
    json.begin_object(kLine);
    json.field("search", search_seconds);
    json.field("actions", apply_seconds);
    json.field("rebuild", rebuild_seconds);
    json.end_object();
  }
  json.key("rules");
  json.begin_array();
  for (const RuleReport& rule : rules) {
    json.begin_object(kLine);
    json.field("id", rule.id.value);
    json.field("name", rule.name);
    json.field("searches", rule.searches);
    write_counts(json, rule, with_times);
    json.end_object();
  }
  json.end_array();
  json.key("rulesets");
  json.begin_array(kLine);
  for (const RulesetReport& ruleset : rulesets) {
    json.begin_object(kLine);
    json.field("id", ruleset.id.value);
    json.field("name", ruleset.name);
    json.end_object();
  }
  json.end_array();
  json.key("iterations");
  json.begin_array();
  size_t step = 0;
  for (size_t i = 0; i < iterations.size(); ++i) {
    const IterationReport& iteration = iterations[i];
    json.begin_object();
    json.field("ruleset", iteration.ruleset.value);
    json.field("candidates", iteration.candidates);
    json.field("matches", iteration.matches);
    json.field("new_facts", iteration.new_facts());
    json.field("tuples", iteration.tuples);
    json.field("classes", iteration.classes);
    if (with_times) json.field("seconds", iteration.seconds);
    json.key("rules");
    json.begin_array();
    for (; step < steps.size() && steps[step].iteration == i; ++step) {
      json.begin_object(kLine);
      json.field("id", steps[step].rule.value);
      write_counts(json, steps[step], with_times);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.field("rule_entries_left_out", steps_left_out);
  json.end_object();
  return json.text();
}

}  // namespace luminal::egraph
