// Schedule: which rulesets run in which order, and the limits of a run.
#pragma once

#include "luminal/egraph/byte_limit.h"
#include "luminal/egraph/value.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

namespace luminal::egraph {

struct Schedule {
  enum class Kind : uint8_t {
    Run,       // one iteration of a ruleset: all searches, then all actions, then rebuild
    Saturate,  // the parts in order, repeated until none of them changes anything
    Sequence,  // the parts in order
    Repeat,    // the parts in order, `times` times, or until none of them changes anything
  };

  Kind kind = Kind::Sequence;
  RulesetId ruleset = {};  // Run
  uint64_t times = 1;      // Repeat
  std::vector<Schedule> parts = {};
  std::function<bool()> until = {};  // Run: skipped if this returns true

  static Schedule run(RulesetId ruleset) { return {.kind = Kind::Run, .ruleset = ruleset}; }
  static Schedule saturate(std::vector<Schedule> parts) {
    return {.kind = Kind::Saturate, .parts = std::move(parts)};
  }
  static Schedule saturate(RulesetId ruleset) { return saturate(std::vector{run(ruleset)}); }
  static Schedule sequence(std::vector<Schedule> parts) {
    return {.kind = Kind::Sequence, .parts = std::move(parts)};
  }
  static Schedule repeat(uint64_t times, std::vector<Schedule> parts) {
    return {.kind = Kind::Repeat, .times = times, .parts = std::move(parts)};
  }
};

// Progress of a run.
struct RunProgress {
  uint64_t iteration = 0;  // the current one, from 1
  std::string_view rule;   // the rule that is searched or applied next
  uint64_t tuples = 0;
  uint64_t classes = 0;
  double seconds = 0;  // since the start of the run
};

// Reaching a limit is a normal outcome, which the report names. All limits but `seconds` are
// deterministic.
struct RunLimits {
  uint64_t nodes = 10'000'000;  // rows of all tables
  // Bytes of tables, indexes, classes, matches and constants. If unset, constants and containers
  // still have a limit (kMostConstantBytes), because a single rule can double them.
  uint64_t bytes = std::numeric_limits<uint64_t>::max();
  uint64_t matches_per_rule = 10'000'000;  // in one iteration
  uint64_t iterations = std::numeric_limits<uint64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
  // Called between rules, at most about ten times per second; must not change the e-graph.
  std::function<void(const RunProgress&)> progress = {};
};

// The byte limit of constants and containers, including their hash tables.
inline uint64_t constant_limit(const RunLimits& limits) {
  return limits.bytes == std::numeric_limits<uint64_t>::max() ? kMostConstantBytes : limits.bytes;
}

}  // namespace luminal::egraph
