#include "luminal/egraph/saturate/recorder.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace luminal::egraph {
namespace {

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

}  // namespace

Recorder::Recorder(const Engine& engine, const RunLimits& limits)
    : engine_(engine), database_(engine.database), limits_(limits) {}

void Recorder::begin_run() {
  before_ = database_.counts;
  report_.tuples_before = database_.tuples();
  if (limits_.progress) started_ = told_ = Clock::now();
}

void Recorder::begin_iteration(RulesetId ruleset) {
  ruleset_ = ruleset;
  iteration_before_ = database_.counts;
  iteration_started_ = Clock::now();
  current_.clear();
}

RuleCounts& Recorder::step(RuleId rule) {
  if (place_.size() <= rule.index()) place_.resize(rule.index() + 1);
  uint32_t& place = place_[rule.index()];
  if (place < current_.size() && current_[place].rule == rule) return current_[place];
  place = static_cast<uint32_t>(current_.size());
  RuleStep& step = current_.emplace_back();
  step.rule = rule;
  step.iteration = static_cast<uint32_t>(report_.iterations.size());
  return step;
}

void Recorder::add_to_totals() {
  for (const RuleStep& step : current_) {
    if (totals_.size() <= step.rule.index()) totals_.resize(step.rule.index() + 1);
    RuleReport& total = totals_[step.rule.index()];
    total.id = step.rule;
    ++total.searches;
    total.add(step);
  }
  if (ruleset_ran_.size() <= ruleset_.index()) ruleset_ran_.resize(ruleset_.index() + 1);
  ruleset_ran_[ruleset_.index()] = true;
}

void Recorder::end_iteration() {
  IterationReport iteration{.ruleset = ruleset_};
  for (const RuleStep& step : current_) {
    iteration.candidates += step.candidates;
    iteration.matches += step.matches;
    iteration.rule_facts += step.new_facts();
    if (step.new_facts() <= iteration.most_facts) continue;
    iteration.most_facts = step.new_facts();
    iteration.most_by = step.rule;
  }
  iteration.new_tuples = database_.counts.added - iteration_before_.added;
  iteration.updates = database_.counts.updated - iteration_before_.updated;
  iteration.unions = database_.counts.unions - iteration_before_.unions;
  iteration.tuples = database_.tuples();
  iteration.classes = database_.classes();
  iteration.seconds = seconds_between(iteration_started_, Clock::now());
  report_.iterations.push_back(iteration);
  add_to_totals();
  // About 80 MB; longer runs only have the totals.
  constexpr size_t kMostSteps = 1'000'000;
  if (report_.steps_left_out == 0 && report_.steps.size() + current_.size() <= kMostSteps) {
    report_.steps.insert(report_.steps.end(), current_.begin(), current_.end());
  } else {
    report_.steps_left_out += current_.size();
  }
  current_.clear();
}

void Recorder::stop(StopReason reason, RuleId culprit) {
  report_.stop = reason;
  if (culprit.valid()) report_.culprit = database_.rule_names[culprit.index()];
}

template <typename Measure>
RuleId Recorder::greatest(Measure measure) const {
  RuleId found;
  auto most = measure(RuleCounts{});
  std::vector<RuleCounts> sums(totals_.begin(), totals_.end());
  for (const RuleStep& step : current_) {
    if (sums.size() <= step.rule.index()) sums.resize(step.rule.index() + 1);
    sums[step.rule.index()].add(step);
  }
  for (uint32_t rule = 0; rule < sums.size(); ++rule) {
    if (measure(sums[rule]) <= most) continue;
    most = measure(sums[rule]);
    found = RuleId{rule};
  }
  return found;
}

RuleId Recorder::most_productive_rule() const {
  return greatest([](const RuleCounts& counts) { return counts.new_tuples; });
}

RuleId Recorder::busiest_rule() const {
  return greatest([](const RuleCounts& counts) { return counts.seconds; });
}

void Recorder::tell(RuleId rule) {
  const Clock::time_point now = Clock::now();
  if (now - told_ < std::chrono::milliseconds(100)) return;
  told_ = now;
  limits_.progress({.iteration = report_.iterations.size() + 1,
                    .rule = database_.rule_names[rule.index()],
                    .tuples = database_.tuples(),
                    .classes = database_.classes(),
                    .seconds = seconds_between(started_, now)});
}

RunReport Recorder::finish() {
  report_.changed = database_.counts.total() != before_.total();
  report_.tuples = database_.tuples();
  report_.classes = database_.classes();
  for (RuleReport& total : totals_) {
    if (total.searches == 0) continue;
    total.name = database_.rule_names[total.id.index()];
    report_.rules.push_back(std::move(total));
  }
  for (uint32_t id = 0; id < ruleset_ran_.size(); ++id) {
    if (!ruleset_ran_[id]) continue;
    report_.rulesets.push_back({.id = RulesetId{id}, .name = engine_.rulesets[id].name});
  }
  return std::move(report_);
}

}  // namespace luminal::egraph
