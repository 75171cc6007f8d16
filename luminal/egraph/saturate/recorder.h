// Recorder: takes down what a run does, for its report, and tells whoever watches.
#pragma once

#include "luminal/egraph/report.h"
#include "luminal/egraph/saturate/engine.h"
#include "luminal/egraph/schedule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace luminal::egraph {

// Allocates nothing until a rule is searched, so that an idle run is as good as free.
class Recorder {
 public:
  // Both must outlive it.
  Recorder(const Engine& engine, const RunLimits& limits);

  // Changes from here on are the run's.
  void begin_run();
  void begin_iteration(RulesetId ruleset);
  // What this rule does in this iteration; the first call for a rule says that it is searched.
  // The reference holds until the next call.
  RuleCounts& step(RuleId rule);
  // The iteration ran to its end, with the database rebuilt.
  void end_iteration();
  // A limit ended it before its actions began: it is no iteration, but its searches count.
  void drop_iteration() { add_to_totals(); }

  // The times that `report` sums up.
  RunReport& report() { return report_; }
  void stop(StopReason reason, RuleId culprit);
  bool stopped() const { return report_.stop != StopReason::Finished; }
  // Not valid where no rule was searched.
  RuleId most_productive_rule() const;
  RuleId busiest_rule() const;

  // Call between rules; at most about every 100 ms it reaches who watches the run.
  void tell_progress(RuleId rule) {
    if (limits_.progress) tell(rule);
  }

  // Names are filled in here, for the rules and rulesets that have entries.
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
  std::vector<uint32_t> place_;     // by rule: where in `current_` it was last
  std::vector<RuleReport> totals_;  // by rule, without names
  std::vector<bool> ruleset_ran_;
};

}  // namespace luminal::egraph
