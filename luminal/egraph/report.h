// RunReport: what a run did, rule by rule and iteration by iteration, and why it ended.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/egraph/value.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace luminal::egraph {

enum class StopReason : uint8_t {
  Finished,  // the schedule ran to its end
  NodeLimit,
  ByteLimit,
  MatchLimit,
  IterationLimit,
  TimeLimit,
};

// What a rule did, in one iteration or in all of a run.
struct RuleCounts {
  uint64_t candidates = 0;  // rows that its searches tried
  uint64_t matches = 0;     // each applied once
  uint64_t new_tuples = 0;  // rows with new arguments
  uint64_t updates = 0;     // values that a merge changed
  uint64_t removals = 0;
  uint64_t unions = 0;  // of distinct classes; congruence isn't counted
  double seconds = 0;   // search and actions

  // Changes to the e-graph: a match may well add nothing new.
  uint64_t new_facts() const { return new_tuples + updates + unions; }
  LUMINAL_API void add(const RuleCounts& other);
};

struct RuleReport : RuleCounts {
  RuleId id;
  std::string name;
  uint64_t searches = 0;  // iterations in which the rule was searched
};

// One rule in one iteration that searched it.
struct RuleStep : RuleCounts {
  RuleId rule;
  uint32_t iteration = 0;  // an index into `iterations`
};

struct IterationReport {
  RulesetId ruleset = {};
  uint64_t candidates = 0;
  uint64_t matches = 0;
  uint64_t new_tuples = 0;
  uint64_t updates = 0;
  uint64_t unions = 0;  // including congruence
  uint64_t tuples = 0;  // after the iteration
  uint64_t classes = 0;
  double seconds = 0;
  RuleId most_by = {};      // the rule with the most new facts; invalid if there were none
  uint64_t most_facts = 0;  // new facts of `most_by`
  uint64_t rule_facts = 0;  // new facts of all rules, without congruence

  uint64_t new_facts() const { return new_tuples + updates + unions; }
};

struct RulesetReport {
  RulesetId id;
  std::string name;
};

// Rules and rulesets that weren't searched have no entry, so the cost of an idle run doesn't grow
// with the number of rules.
struct RunReport {
  StopReason stop = StopReason::Finished;
  std::string culprit;  // the rule to look at if a limit stopped the run, else empty
  bool changed = false;
  std::vector<RuleReport> rules;        // those that were searched, by id
  std::vector<RulesetReport> rulesets;  // those that ran, by id
  std::vector<IterationReport> iterations;
  // One entry per iteration and searched rule, in run order. Very long runs keep the earliest
  // entries and only count the others; the totals in `rules` are always complete.
  std::vector<RuleStep> steps;
  uint64_t steps_left_out = 0;
  uint64_t tuples_before = 0;
  uint64_t tuples = 0;
  uint64_t classes = 0;
  double search_seconds = 0;
  double apply_seconds = 0;
  double rebuild_seconds = 0;

  // All zeros for a rule that wasn't searched.
  LUMINAL_API RuleReport rule(RuleId id) const;

  // One line: "finished: 3 iterations, 40 tuples, 9 classes".
  LUMINAL_API std::string summary() const;
  // The summary and a table of the rules that matched; with times, the slowest rule comes first.
  // Omit times for text that must not differ between runs.
  LUMINAL_API std::string text(bool with_times = true) const;
  // One line per iteration: size of the e-graph and the rule that added most; then a verdict that
  // names the rule behind the growth.
  LUMINAL_API std::string growth() const;
  // A table of rules per iteration.
  LUMINAL_API std::string steps_text(bool with_times = true) const;
  // The whole report as a JSON object.
  LUMINAL_API std::string json(bool with_times = true) const;
};

LUMINAL_API const char* name_of(StopReason reason);

// Several runs as one, in order: totals per rule, all iterations. The stop reason is that of the
// last run stopped by a limit.
LUMINAL_API RunReport overall(std::span<const RunReport> runs);

// The cost of an output that is an extracted term.
struct OutputCost {
  size_t output = 0;  // index into the outputs
  uint64_t cost = 0;
};

// What a program printed and how its runs went.
struct ProgramResult {
  std::vector<std::string> outputs;  // of extract and print-size, and of runs stopped by a limit
  uint64_t output_bytes = 0;         // of all outputs
  std::vector<OutputCost> costs;     // of the outputs of extract, in their order
  std::vector<RunReport> runs;
};

struct ExtractedTerm {
  std::string text;
  uint64_t cost = 0;
};

struct DagNode {
  FunctionId function;
  Value value;                   // the class, canonical
  std::vector<Value> arguments;  // canonical
};

struct ExtractedDag {
  std::vector<DagNode> nodes;  // one per class in topological order, the root last
  uint64_t cost = 0;           // each node counted once
  std::string text;            // a `let` per shared node, then the term
};

}  // namespace luminal::egraph
