// Compare: runs a baseline's kernels and this build's in turns in one process; only that allows a
// verdict. Times from another hour or process depend more on the machine than on the kernels.
#pragma once

#include <string>
#include <vector>

#include "apps/bench/harness/progress.h"
#include "apps/bench/harness/statistics.h"
#include "apps/bench/kernels/baseline.h"

namespace luminal::bench {

struct CompareSettings {
  int rounds = 30;           // of the first look; undecided cases get two more, each twice as long
  double margin = 0.05;      // see judge()
  double confidence = 0.95;  // that no verdict of the whole run is wrong
  // Only for tests: adds busy work to every run of this build's side of one case, as a fraction of
  // the case's own time.
  std::string planted_case = {};
  double planted_share = 0;
};

struct Compared {
  std::string name;
  Judgement judgement = {};
  std::vector<double> ratios = {};           // one per round: seconds now / seconds then
  double seconds_then = 0, seconds_now = 0;  // medians over rounds
  bool results_differ = false;               // more than rounding explains
  std::string why_not = {};                  // why it couldn't be compared
};

// How often undecided cases are measured again: all looks at all cases share the probability of a
// wrong verdict.
inline constexpr int kLooks = 3;

// Compares the baseline's cases whose names contain `filter`. UserError if it can't be run here.
std::vector<Compared> compare(const Baseline& baseline, const std::string& filter,
                              const CompareSettings& settings, const Progress& progress);

}  // namespace luminal::bench
