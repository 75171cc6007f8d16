// Report: what a run of a suite found, and the files that say so.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/bench/kernels/compare.h"
#include "apps/bench/kernels/metrics.h"

namespace luminal::bench {

struct LeftOut {
  std::string name, why;
};

struct Report {
  Level level = Level::Micro;
  std::string command;  // as it could be typed again
  std::string when;     // UTC, "2024-02-29T12:00:00Z"
  double min_seconds = 0;
  Peaks peaks;
  std::vector<Measured> cases;
  std::vector<LeftOut> left_out;
};

// One object each: every sample's figures; and the summary, with machine, version and settings.
std::string metrics_json(const Report& report);
std::string report_json(const Report& report);

// The runs before this one and this one: for each case its share of the roofline, whose peaks were
// measured in the same run. `before` is what a run before had written; anything else is refused
// with a UserError.
std::string history_json(const std::string& before, const Report& report);

struct Comparison {
  Level level = Level::Micro;
  std::string command, when;
  const Baseline* baseline = nullptr;
  CompareSettings settings;
  std::vector<Compared> cases;
};
std::string comparison_json(const Comparison& comparison);

// The time now, as Report::when has it.
std::string utc_now();
// "0.1.0 (3f2a…)": which build this is.
std::string this_build();

}  // namespace luminal::bench
