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
    Saturate,  // the parts in order, again until none of them changes anything
    Sequence,  // the parts in order
    Repeat,    // the parts in order, `times` times, or until none of them changes anything
  };

  Kind kind = Kind::Sequence;
  RulesetId ruleset = {};  // of Run
  uint64_t times = 1;      // of Repeat
  std::vector<Schedule> parts = {};
  std::function<bool()> until = {};  // of Run: nothing is run where it says true

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

// How far a run is, while it goes on.
struct RunProgress {
  uint64_t iteration = 0;  // the one at work, from 1
  std::string_view rule;   // that is searched or applied next
  uint64_t tuples = 0;
  uint64_t classes = 0;
  double seconds = 0;  // since the run began
};

// To reach one is a normal outcome that the report names. All but the seconds stop a run at the
// same place every time.
struct RunLimits {
  uint64_t nodes = 10'000'000;  // rows of all tables
  // Of tables, indexes, classes, matches and constants. Strings, big numbers and containers have a
  // limit of their own where none is given (kMostConstantBytes): a rule can double them.
  uint64_t bytes = std::numeric_limits<uint64_t>::max();
  uint64_t matches_per_rule = 10'000'000;  // in one iteration
  uint64_t iterations = std::numeric_limits<uint64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
  // Called between two rules, at most about ten times a second; it must leave the e-graph alone.
  std::function<void(const RunProgress&)> progress = {};
};

// Of strings, numbers and containers together with what finds them.
inline uint64_t constant_limit(const RunLimits& limits) {
  return limits.bytes == std::numeric_limits<uint64_t>::max() ? kMostConstantBytes : limits.bytes;
}

}  // namespace luminal::egraph
