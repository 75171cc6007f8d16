// RunReport: what a run did, rule by rule and iteration by iteration, and why it ended.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/egraph/value.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace luminal::egraph {

enum class StopReason : uint8_t {
  Finished,  // the schedule ran to its end
  NodeLimit,
  MatchLimit,
  IterationLimit,
  TimeLimit,
};

struct RuleReport {
  std::string name;
  uint64_t searches = 0;    // iterations in which it wasn't skipped
  uint64_t matches = 0;     // each applied once
  uint64_t new_tuples = 0;  // rows with arguments that weren't there
  uint64_t updates = 0;     // values that a merge changed
  uint64_t removals = 0;
  uint64_t unions = 0;  // of classes that were different; congruence isn't counted
  double seconds = 0;   // search and actions
};

struct IterationReport {
  RulesetId ruleset;
  uint64_t matches = 0;
  uint64_t new_tuples = 0;
  uint64_t unions = 0;  // with those by congruence
  uint64_t tuples = 0;  // after it
  uint64_t classes = 0;
  double seconds = 0;
};

struct RunReport {
  StopReason stop = StopReason::Finished;
  std::string culprit;  // the rule to look at where a limit stopped the run, else empty
  bool changed = false;
  std::vector<RuleReport> rules;  // all rules, in the order of their ids, from 1
  std::vector<IterationReport> iterations;
  uint64_t tuples = 0;
  uint64_t classes = 0;
  double search_seconds = 0;
  double apply_seconds = 0;
  double rebuild_seconds = 0;

  // How it ended, on one line: "finished: 3 iterations, 40 tuples, 9 classes".
  LUMINAL_API std::string summary() const;
  // The summary and a table of the rules that matched. Times are left out on request, for texts
  // that must not differ from run to run.
  LUMINAL_API std::string text(bool with_times = true) const;
};

LUMINAL_API const char* name_of(StopReason reason);

// What an output that is an extracted term costs.
struct OutputCost {
  size_t output = 0;  // its place among the outputs
  uint64_t cost = 0;
};

// What a program printed and how its runs went.
struct ProgramResult {
  std::vector<std::string> outputs;  // of extract and print-size, and of runs that a limit stopped
  std::vector<OutputCost> costs;     // of the outputs of extract, in their order
  std::vector<RunReport> runs;
};

struct ExtractedTerm {
  std::string text;
  uint64_t cost = 0;
};

}  // namespace luminal::egraph
