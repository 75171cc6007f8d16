// Suite: one run of a level's benchmarks, from the command's options to its files.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>

#include "apps/bench/harness/progress.h"
#include "apps/bench/kernels/compare.h"
#include "apps/bench/kernels/runner.h"

namespace luminal::bench {

struct SuiteOptions {
  Selection selection;
  RunSettings run;
  double peak_seconds = 0.1;            // per peak, before and after the cases
  std::filesystem::path out = "bench";  // output folder
  std::string command;                  // as it was typed, for the reports
  bool json = false;                    // print the result as JSON instead of a summary
};

// Measures peaks and cases, writes <stem>_metrics.json, <stem>_report.json, <stem>_history.json and
// bench.html into the folder, and prints a summary.
void run_suite(const SuiteOptions& options, std::ostream& text, const Progress& progress);

// Writes a baseline and prints its location.
void run_baseline(const SuiteOptions& options, const std::filesystem::path& folder,
                  std::ostream& text, const Progress& progress);

// Prints a verdict per case, writes <stem>_compare.json and the page. True if nothing is slower and
// all results agree.
bool run_compare(const SuiteOptions& options, const std::filesystem::path& folder,
                 const CompareSettings& settings, std::ostream& text, const Progress& progress);

}  // namespace luminal::bench
