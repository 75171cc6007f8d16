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
  uint64_t candidates = 0;  // rows that its searches looked at
  uint64_t matches = 0;     // each applied once
  uint64_t new_tuples = 0;  // rows with arguments that weren't there
  uint64_t updates = 0;     // values that a merge changed
  uint64_t removals = 0;
  uint64_t unions = 0;  // of classes that were different; congruence isn't counted
  double seconds = 0;   // search and actions

  // What wasn't known before: a match may well tell nothing new.
  uint64_t new_facts() const { return new_tuples + updates + unions; }
  LUMINAL_API void add(const RuleCounts& other);
};

struct RuleReport : RuleCounts {
  RuleId id;
  std::string name;
  uint64_t searches = 0;  // iterations in which it wasn't skipped
};

// A rule in an iteration that searched it.
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
  uint64_t unions = 0;  // with those by congruence
  uint64_t tuples = 0;  // after it
  uint64_t classes = 0;
  double seconds = 0;
  RuleId most_by = {};      // the rule with the most new facts; not valid where there were none
  uint64_t most_facts = 0;  // of that rule
  uint64_t rule_facts = 0;  // of all rules, congruence not counted

  uint64_t new_facts() const { return new_tuples + updates + unions; }
};

struct RulesetReport {
  RulesetId id;
  std::string name;
};

// Rules and rulesets that nothing happened to aren't in it: an idle run costs no more with many
// rules than with few.
struct RunReport {
  StopReason stop = StopReason::Finished;
  std::string culprit;  // the rule to look at where a limit stopped the run, else empty
  bool changed = false;
  std::vector<RuleReport> rules;        // those that were searched, by id
  std::vector<RulesetReport> rulesets;  // those that ran, by id
  std::vector<IterationReport> iterations;
  // Iteration by iteration, the rules in the order they ran. Very long runs keep those of the
  // earlier iterations alone and count the rest; the sums in `rules` are always whole.
  std::vector<RuleStep> steps;
  uint64_t steps_left_out = 0;
  uint64_t tuples_before = 0;
  uint64_t tuples = 0;
  uint64_t classes = 0;
  double search_seconds = 0;
  double apply_seconds = 0;
  double rebuild_seconds = 0;

  // Zeros for a rule that wasn't searched.
  LUMINAL_API RuleReport rule(RuleId id) const;

  // How it ended, on one line: "finished: 3 iterations, 40 tuples, 9 classes".
  LUMINAL_API std::string summary() const;
  // The summary and a table of the rules that matched, with times the slowest first. Times are
  // left out on request, for texts that must not differ from run to run.
  LUMINAL_API std::string text(bool with_times = true) const;
  // A line per iteration: how large the e-graph was after it and which rule added most; then a
  // verdict that names the rule behind the growth.
  LUMINAL_API std::string growth() const;
  // A table of rules per iteration.
  LUMINAL_API std::string steps_text(bool with_times = true) const;
  // All of it, as an object.
  LUMINAL_API std::string json(bool with_times = true) const;
};

LUMINAL_API const char* name_of(StopReason reason);

// Several runs as one, in their order: sums by rule, all iterations. It ended as the last one that
// a limit stopped.
LUMINAL_API RunReport overall(std::span<const RunReport> runs);

// What an output that is an extracted term costs.
struct OutputCost {
  size_t output = 0;  // its place among the outputs
  uint64_t cost = 0;
};

// What a program printed and how its runs went.
struct ProgramResult {
  std::vector<std::string> outputs;  // of extract and print-size, and of runs that a limit stopped
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
  std::vector<DagNode> nodes;  // one per class, arguments before those that use them; the root last
  uint64_t cost = 0;           // each node once
  std::string text;            // a `let` for what is used more than once, then the term
};

}  // namespace luminal::egraph
