#include "apps/bench/harness/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace luminal::bench {
namespace {

// How many samples may be dropped at each end so that the remaining range contains the median with
// this confidence: the maximum k with P(at most k − 1 heads in n tosses) ≤ (1 − confidence) / 2. 0
// if all samples together aren't enough.
size_t left_out(size_t n, double confidence) {
  const double most = (1 - confidence) / 2;
  double chance = std::exp2(-static_cast<double>(n));  // probability of no heads
  double sum = 0;
  size_t k = 0;
  while (k < n / 2) {
    sum += chance;
    if (sum > most) break;
    chance *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return k;
}

}  // namespace

double quantile(std::vector<double> samples, double q) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(samples.begin(), samples.end());
  const double at = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, samples.size() - 1);
  const double share = at - static_cast<double>(below);
  return samples[below] * (1 - share) + samples[above] * share;
}

double median(std::vector<double> samples) { return quantile(std::move(samples), 0.5); }

Interval median_interval(std::vector<double> samples, double confidence) {
  const size_t k = left_out(samples.size(), confidence);
  if (k == 0) return {0, std::numeric_limits<double>::infinity()};
  std::sort(samples.begin(), samples.end());
  return {samples[k - 1], samples[samples.size() - k]};
}

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::Same:
      return "same";
    case Verdict::Slower:
      return "slower";
    case Verdict::Faster:
      return "faster";
    case Verdict::NotDecided:
      return "not decided";
  }
  return "";
}

Judgement judge(const std::vector<double>& ratios, double confidence, double margin) {
  Judgement judgement{.ratio = median(ratios), .interval = median_interval(ratios, confidence)};
  const double edge = 1 + margin;
  const auto& [low, high] = judgement.interval;
  if (low > edge) {
    judgement.verdict = Verdict::Slower;
  } else if (high < 1 / edge) {
    judgement.verdict = Verdict::Faster;
  } else if (low >= 1 / edge && high <= edge) {
    judgement.verdict = Verdict::Same;
  }
  return judgement;
}

double shared_confidence(double overall, int64_t questions) {
  return 1 - (1 - overall) / static_cast<double>(std::max<int64_t>(questions, 1));
}

}  // namespace luminal::bench
