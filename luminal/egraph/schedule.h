// Schedule: which rulesets run in which order, and the limits of a run.
#pragma once

#include "luminal/egraph/value.h"

#include <cstdint>
#include <functional>
#include <limits>
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

// To reach one is a normal outcome that the report names. All but the seconds stop a run at the
// same place every time.
struct RunLimits {
  uint64_t nodes = 10'000'000;             // rows of all tables
  uint64_t matches_per_rule = 10'000'000;  // in one iteration
  uint64_t iterations = std::numeric_limits<uint64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
};

}  // namespace luminal::egraph
