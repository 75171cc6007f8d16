// Report: the results of a suite's run, and the files they are written to.
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
  std::string command;  // repeats the run
  std::string when;     // UTC, "2024-02-29T12:00:00Z"
  double min_seconds = 0;
  Peaks peaks;
  std::vector<Measured> cases;
  std::vector<LeftOut> left_out;
};

// One JSON object each: the figures of all samples; the summary, with machine, version, settings.
std::string metrics_json(const Report& report);
std::string report_json(const Report& report);

// The history extended by this run: for each case its fraction of the roofline, whose peaks were
// measured in the same run. `before` is the previous history; UserError for anything else.
std::string history_json(const std::string& before, const Report& report);

struct Comparison {
  Level level = Level::Micro;
  std::string command, when;
  const Baseline* baseline = nullptr;
  CompareSettings settings;
  std::vector<Compared> cases;
};
std::string comparison_json(const Comparison& comparison);

// The current time, in the format of Report::when.
std::string utc_now();
// "0.1.0 (3f2a…)": the version of this build.
std::string this_build();

}  // namespace luminal::bench
