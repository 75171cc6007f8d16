// Statistics of samples: quantiles, a confidence interval of the median, and a verdict on two
// interleaved sides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace luminal::bench {

// Interpolates between the two nearest samples (q in 0 … 1). NaN without samples.
double quantile(std::vector<double> samples, double q);
double median(std::vector<double> samples);

struct Interval {
  double low = 0, high = 0;
};

// Contains the median of the underlying distribution with this confidence, whatever that
// distribution is: the ends are order statistics (sign test). With too few samples for the
// confidence it is 0 to infinity.
Interval median_interval(std::vector<double> samples, double confidence);

enum class Verdict : uint8_t {
  Same,        // the interval lies within the margin
  Slower,      // the interval lies beyond the margin
  Faster,      // likewise
  NotDecided,  // the interval crosses an edge of the margin: more rounds would tell
};
const char* name(Verdict verdict);  // "same", "slower", "faster", "not decided"

struct Judgement {
  Verdict verdict = Verdict::NotDecided;
  double ratio = 1;  // median over rounds of seconds now / seconds then
  Interval interval = {};
};

// A ratio comes from one round, in which both sides ran. Ratios up to 1 + margin, and down to its
// inverse, count as equal: two copies of one kernel differ by their placement in memory.
Judgement judge(const std::vector<double>& ratios, double confidence, double margin);

// The confidence needed for each of `questions` answers so that all of them are right with
// confidence `overall` (Bonferroni).
double shared_confidence(double overall, int64_t questions);

}  // namespace luminal::bench
