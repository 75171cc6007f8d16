// Recorder: collects what a run does for its report, and calls the progress callback.
#pragma once

#include "luminal/egraph/report.h"
#include "luminal/egraph/saturate/engine.h"
#include "luminal/egraph/schedule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace luminal::egraph {

// Allocates nothing until a rule is searched, so an idle run costs almost nothing.
class Recorder {
 public:
  // Both must outlive the recorder.
  Recorder(const Engine& engine, const RunLimits& limits);

  // Changes from now on count for this run.
  void begin_run();
  void begin_iteration(RulesetId ruleset);
  // The counters of this rule in this iteration; the first call marks the rule as searched. The
  // reference is valid until the next call.
  RuleCounts& step(RuleId rule);
  // Call when the iteration is complete and the database rebuilt.
  void end_iteration();
  // Call if a limit stopped the iteration before its actions: only its searches count.
  void drop_iteration() { add_to_totals(); }

  // The report so far; the runner adds the times of its phases.
  RunReport& report() { return report_; }
  void stop(StopReason reason, RuleId culprit);
  bool stopped() const { return report_.stop != StopReason::Finished; }
  // Invalid if no rule was searched.
  RuleId most_productive_rule() const;
  RuleId busiest_rule() const;

  // Call between rules; forwards to the progress callback at most about every 100 ms.
  void tell_progress(RuleId rule) {
    if (limits_.progress) tell(rule);
  }

  // Fills in the names of rules and rulesets that have entries.
  RunReport finish();

 private:
  template <typename Measure>
  RuleId greatest(Measure measure) const;
  void add_to_totals();
  void tell(RuleId rule);

  const Engine& engine_;
  const Database& database_;
  const RunLimits& limits_;
  RunReport report_;
  ChangeCounts before_;            // at the start of the run
  ChangeCounts iteration_before_;  // at the start of the iteration
  Clock::time_point started_;
  Clock::time_point iteration_started_;
  Clock::time_point told_;
  RulesetId ruleset_;
  std::vector<RuleStep> current_;   // of this iteration
  std::vector<uint32_t> place_;     // by rule: its latest index in `current_`
  std::vector<RuleReport> totals_;  // by rule, without names
  std::vector<bool> ruleset_ran_;
};

}  // namespace luminal::egraph
