// Schedule: which rulesets run in which order, and the limits of a run.
#pragma once

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
  uint64_t nodes = 10'000'000;                            // rows of all tables
  uint64_t bytes = std::numeric_limits<uint64_t>::max();  // of tables, indexes, classes, matches
  uint64_t matches_per_rule = 10'000'000;                 // in one iteration
  uint64_t iterations = std::numeric_limits<uint64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
  // Called between two rules, at most about ten times a second; it must leave the e-graph alone.
  std::function<void(const RunProgress&)> progress = {};
};

}  // namespace luminal::egraph
