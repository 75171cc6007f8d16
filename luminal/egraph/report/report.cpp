#include "luminal/egraph/report.h"

#include "luminal/base/check.h"
#include "luminal/egraph/report/text_table.h"

#include <algorithm>
#include <map>
#include <utility>

namespace luminal::egraph {
namespace {

const std::string& name_in(const RunReport& report, RuleId id) {
  static const std::string kUnknown = "?";
  const auto found =
      std::lower_bound(report.rules.begin(), report.rules.end(), id,
                       [](const RuleReport& rule, RuleId wanted) { return rule.id < wanted; });
  return found == report.rules.end() || found->id != id ? kUnknown : found->name;
}

std::string name_in(const RunReport& report, RulesetId id) {
  for (const RulesetReport& ruleset : report.rulesets) {
    if (ruleset.id == id && !ruleset.name.empty()) return ruleset.name;
  }
  return "default";
}

std::string plural(uint64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string percent(uint64_t part, uint64_t whole) {
  const uint64_t rounded = whole == 0 ? 0 : (200 * part + whole) / (2 * whole);
  return rounded == 100 && part < whole ? "> 99 %" : std::to_string(rounded) + " %";
}

TextTable counts_table(bool with_times) {
  TextTable table({"candidates", "matches", "new facts", "tuples", "updates", "unions"});
  if (with_times) table.add_column("ms");
  table.add_column("rule", TextTable::Align::Left);
  return table;
}

void add_counts(TextTable& table, const RuleCounts& counts, const std::string& name,
                bool with_times) {
  std::vector<std::string> cells = {
      std::to_string(counts.candidates),  std::to_string(counts.matches),
      std::to_string(counts.new_facts()), std::to_string(counts.new_tuples),
      std::to_string(counts.updates),     std::to_string(counts.unions)};
  if (with_times) cells.push_back(milliseconds(counts.seconds));
  cells.push_back(name);
  table.add_row(std::move(cells));
}

// The rule to blame for the growth: the one that added most tuples, or, if none were added, the one
// with the most new facts.
struct Blame {
  const RuleReport* rule = nullptr;
  uint64_t part = 0;
  uint64_t whole = 0;
};

template <typename Count>
Blame blame_by(const RunReport& report, Count count) {
  Blame blame;
  for (const RuleReport& rule : report.rules) {
    const uint64_t part = count(rule);
    blame.whole += part;
    if (part <= blame.part) continue;
    blame.part = part;
    blame.rule = &rule;
  }
  return blame;
}

// True if a size limit was hit, or any limit after a tenfold growth, or if each of the last
// iterations grew the e-graph by at least half.
bool is_explosion(const RunReport& report) {
  if (report.stop == StopReason::NodeLimit || report.stop == StopReason::ByteLimit ||
      report.stop == StopReason::MatchLimit)
    return true;
  constexpr size_t kRounds = 3;
  constexpr uint64_t kWorthAWord = 1000;  // tuples; small e-graphs double without harm
  const size_t count = report.iterations.size();
  if (report.tuples < kWorthAWord) return false;
  if (report.stop != StopReason::Finished && report.tuples / 10 >= report.tuples_before)
    return true;
  if (count <= kRounds) return false;
  for (size_t i = count - kRounds; i < count; ++i) {
    if (2 * report.iterations[i].tuples < 3 * report.iterations[i - 1].tuples) return false;
  }
  return true;
}

std::string verdict(const RunReport& report) {
  const Blame tuples = blame_by(report, [](const RuleReport& r) { return r.new_tuples; });
  const std::string sizes =
      std::to_string(report.tuples_before) + " -> " + plural(report.tuples, "tuple");
  if (tuples.rule != nullptr) {
    return std::string(is_explosion(report) ? "explosion" : "growth") + ": " + sizes + "; rule '" +
           tuples.rule->name + "' added " + percent(tuples.part, tuples.whole) + " of the " +
           plural(tuples.whole, "new tuple") + " (" + std::to_string(tuples.part) + ")\n";
  }
  const Blame facts = blame_by(report, [](const RuleReport& r) { return r.new_facts(); });
  if (facts.rule == nullptr) return "no growth: no rule found anything new\n";
  return "no growth: " + sizes + "; rule '" + facts.rule->name + "' made " +
         percent(facts.part, facts.whole) + " of the " + plural(facts.whole, "update") +
         " and unions (" + std::to_string(facts.part) + ")\n";
}

}  // namespace

const char* name_of(StopReason reason) {
  switch (reason) {
    case StopReason::Finished:
      return "finished";
    case StopReason::NodeLimit:
      return "stopped at the limit of nodes";
    case StopReason::ByteLimit:
      return "stopped at the limit of bytes";
    case StopReason::MatchLimit:
      return "stopped at the limit of matches per rule";
    case StopReason::IterationLimit:
      return "stopped at the limit of iterations";
    case StopReason::TimeLimit:
      return "stopped at the limit of time";
  }
  LUMINAL_CHECK(false, "unknown reason to stop");
}

void RuleCounts::add(const RuleCounts& other) {
  candidates += other.candidates;
  matches += other.matches;
  new_tuples += other.new_tuples;
  updates += other.updates;
  removals += other.removals;
  unions += other.unions;
  seconds += other.seconds;
}

RuleReport RunReport::rule(RuleId id) const {
  for (const RuleReport& rule : rules) {
    if (rule.id == id) return rule;
  }
  return {};
}

std::string RunReport::summary() const {
  std::string line = name_of(stop);
  if (!culprit.empty()) line += ", look at rule '" + culprit + "'";
  return line + ": " + std::to_string(iterations.size()) + " iterations, " +
         std::to_string(tuples) + " tuples, " + std::to_string(classes) + " classes";
}

std::string RunReport::text(bool with_times) const {
  std::string out = summary() + "\n";
  if (with_times) {
    out += "search " + milliseconds(search_seconds) + " ms, actions " +
           milliseconds(apply_seconds) + " ms, rebuild " + milliseconds(rebuild_seconds) + " ms\n";
  }
  std::vector<const RuleReport*> matched;
  RuleCounts idle;
  uint64_t idle_rules = 0;
  for (const RuleReport& rule : rules) {
    if (rule.matches > 0) {
      matched.push_back(&rule);
    } else {
      idle.add(rule);
      ++idle_rules;
    }
  }
  if (with_times) {
    std::sort(matched.begin(), matched.end(), [](const RuleReport* a, const RuleReport* b) {
      return a->seconds != b->seconds ? a->seconds > b->seconds : a->id < b->id;
    });
  }
  TextTable table = counts_table(with_times);
  for (const RuleReport* rule : matched) add_counts(table, *rule, rule->name, with_times);
  if (!matched.empty()) out += table.text();
  if (idle_rules > 0) {
    out += plural(idle_rules, "rule") +
           " searched without a match: " + plural(idle.candidates, "candidate") +
           (with_times ? ", " + milliseconds(idle.seconds) + " ms" : "") + "\n";
  }
  return out;
}

std::string RunReport::growth() const {
  // The first and the last iterations say most; json() has all of them.
  constexpr size_t kFirst = 4, kLast = 12;
  TextTable table({"iteration", "tuples", "classes", "matches", "new facts"});
  table.add_column("ruleset", TextTable::Align::Left);
  table.add_column("most by rule", TextTable::Align::Left);
  for (size_t i = 0; i < iterations.size(); ++i) {
    if (iterations.size() > kFirst + kLast && i == kFirst) {
      i = iterations.size() - kLast;
      table.add_line("… iterations " + std::to_string(kFirst + 1) + " to " + std::to_string(i) +
                     " left out; the report as JSON holds them …");
    }
    const IterationReport& iteration = iterations[i];
    std::string most;
    if (iteration.most_by.valid()) {
      most = name_in(*this, iteration.most_by) + ", " +
             percent(iteration.most_facts, iteration.rule_facts);
    }
    table.add_row({std::to_string(i + 1), std::to_string(iteration.tuples),
                   std::to_string(iteration.classes), std::to_string(iteration.matches),
                   std::to_string(iteration.new_facts()), name_in(*this, iteration.ruleset), most});
  }
  return (iterations.empty() ? "" : table.text()) + verdict(*this);
}

std::string RunReport::steps_text(bool with_times) const {
  std::string out;
  size_t step = 0;
  for (size_t i = 0; i < iterations.size() && step < steps.size(); ++i) {
    const IterationReport& iteration = iterations[i];
    out += "iteration " + std::to_string(i + 1) + ", ruleset " + name_in(*this, iteration.ruleset) +
           ": " + plural(iteration.tuples, "tuple") + ", " + std::to_string(iteration.classes) +
           " classes" + (with_times ? ", " + milliseconds(iteration.seconds) + " ms" : "") + "\n";
    TextTable table = counts_table(with_times);
    for (; step < steps.size() && steps[step].iteration == i; ++step) {
      add_counts(table, steps[step], name_in(*this, steps[step].rule), with_times);
    }
    out += table.text();
  }
  if (steps_left_out > 0) {
    out += "… " + plural(steps_left_out, "line") + " of later iterations left out\n";
  }
  return out;
}

RunReport overall(std::span<const RunReport> runs) {
  RunReport sum;
  std::map<RuleId, RuleReport> rules;
  std::map<RulesetId, std::string> rulesets;
  for (const RunReport& run : runs) {
    if (run.stop != StopReason::Finished) {
      sum.stop = run.stop;
      sum.culprit = run.culprit;
    }
    sum.changed |= run.changed;
    for (const RuleReport& rule : run.rules) {
      RuleReport& total = rules[rule.id];
      total.id = rule.id;
      total.name = rule.name;
      total.searches += rule.searches;
      total.add(rule);
    }
    for (const RulesetReport& ruleset : run.rulesets) rulesets[ruleset.id] = ruleset.name;
    for (RuleStep step : run.steps) {
      step.iteration += static_cast<uint32_t>(sum.iterations.size());
      sum.steps.push_back(step);
    }
    sum.iterations.insert(sum.iterations.end(), run.iterations.begin(), run.iterations.end());
    sum.steps_left_out += run.steps_left_out;
    sum.search_seconds += run.search_seconds;
    sum.apply_seconds += run.apply_seconds;
    sum.rebuild_seconds += run.rebuild_seconds;
  }
  for (auto& [id, rule] : rules) sum.rules.push_back(std::move(rule));
  for (const auto& [id, name] : rulesets) sum.rulesets.push_back({.id = id, .name = name});
  if (!runs.empty()) {
    sum.tuples_before = runs.front().tuples_before;
    sum.tuples = runs.back().tuples;
    sum.classes = runs.back().classes;
  }
  return sum;
}

}  // namespace luminal::egraph
