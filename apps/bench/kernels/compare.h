// Compare: a baseline's kernels and this build's, in turns in one process; only that gives a
// verdict. Times of another hour, or of another process, say more about the machine than about the
// kernels.
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
  // For tests alone: busy work beside every run of this build's side of one case, as long as this
  // share of the case's own time.
  std::string planted_case = {};
  double planted_share = 0;
};

struct Compared {
  std::string name;
  Judgement judgement = {};
  std::vector<double> ratios = {};           // one per round: seconds now / seconds then
  double seconds_then = 0, seconds_now = 0;  // medians over rounds
  bool results_differ = false;               // beyond what rounding explains
  std::string why_not = {};                  // it couldn't be compared
};

// How often undecided cases are looked at again: the chance of a wrong verdict is shared by all
// looks at all cases.
inline constexpr int kLooks = 3;

// The baseline's cases whose names contain `filter`. UserError where the baseline can't be run by
// this build.
std::vector<Compared> compare(const Baseline& baseline, const std::string& filter,
                              const CompareSettings& settings, const Progress& progress);

}  // namespace luminal::bench
