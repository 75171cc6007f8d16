// What can be said of samples: quantiles, an interval for the median, and a verdict on two sides
// that ran in turns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace luminal::bench {

// Between the two nearest samples where none stands at q (0 … 1). NaN of none.
double quantile(std::vector<double> samples, double q);
double median(std::vector<double> samples);

struct Interval {
  double low = 0, high = 0;
};

// That holds the median of what the samples were drawn from with this confidence, whatever their
// distribution: the ends are samples, counted from both sides (the sign test). With too few samples
// for the confidence it reaches from 0 to infinity.
Interval median_interval(std::vector<double> samples, double confidence);

enum class Verdict : uint8_t {
  Same,        // the interval lies within the margin
  Slower,      // it lies beyond it
  Faster,      // likewise
  NotDecided,  // it reaches over an edge of it: more rounds would tell
};
const char* name(Verdict verdict);  // "same", "slower", "faster", "not decided"

struct Judgement {
  Verdict verdict = Verdict::NotDecided;
  double ratio = 1;  // the median of the rounds' ratios: seconds now / seconds then
  Interval interval = {};
};

// A ratio is that of one round, in which both sides ran. `margin`: ratios up to 1 + margin, and
// down to its inverse, are the same: two copies of one kernel differ by where they lie in memory.
Judgement judge(const std::vector<double>& ratios, double confidence, double margin);

// For each of `questions` that are asked at once, the confidence with which all answers together
// are right with `overall` (Bonferroni).
double shared_confidence(double overall, int64_t questions);

}  // namespace luminal::bench
