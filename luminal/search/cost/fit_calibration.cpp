// Fits the factors of a calibration to measured kernels: coordinate descent over grids of values,
// so that a fit is the same in every build and factors are short to write.
#include <algorithm>
#include <cmath>

#include "luminal/base/check.h"
#include "luminal/search/cost/calibration.h"

namespace luminal::search {
namespace {

// Errors are differences of logarithms. Up to this one they count by their square, beyond linearly:
// a kernel that ran beside another program must not decide.
constexpr double kOutlier = 0.3;
// How strongly factors are held at those of the model without measurements.
constexpr double kRidge = 0.05;
constexpr double kWaitingRidge = 0.2;
constexpr int kFolds = 5;
constexpr int kMostPasses = 12;  // of each step width

// Factors are powers of 2^(1/8) within [1/32, 32]; `waiting` is a multiple of 1/20.
constexpr int kPerOctave = 8, kOctaves = 5;
constexpr int kWaitingSteps = 20;

// One number that is fitted: its values in order, and how each is held back.
struct Grid {
  std::vector<double> values, penalties;

  void add(double value, double penalty) {
    values.push_back(value);
    penalties.push_back(penalty);
  }
  size_t nearest(double value) const {
    size_t best = 0;
    for (size_t i = 1; i < values.size(); ++i) {
      if (std::abs(values[i] - value) < std::abs(values[best] - value)) best = i;
    }
    return best;
  }
};

Grid grid_of_factors(bool extra) {
  Grid grid;
  if (extra) grid.add(0, 0);
  for (int i = -kOctaves * kPerOctave; i <= kOctaves * kPerOctave; ++i) {
    const double factor = std::exp2(static_cast<double>(i) / kPerOctave);
    const double away = std::log(extra ? 1 + factor : factor);
    grid.add(factor, kRidge * away * away);
  }
  return grid;
}

Grid grid_of_waiting(double usual) {
  Grid grid;
  for (int i = 0; i <= kWaitingSteps; ++i) {
    const double waiting = static_cast<double>(i) / kWaitingSteps;
    grid.add(waiting, kWaitingRidge * (waiting - usual) * (waiting - usual));
  }
  return grid;
}

double loss(const CostSample& sample, const Calibration& calibration) {
  const double off = std::log(seconds(sample, calibration) / sample.seconds) / kOutlier;
  return kOutlier * kOutlier * (std::sqrt(1 + off * off) - 1);
}

// A number of one kind of kernel, and the samples that depend on it.
class Coordinate {
 public:
  Coordinate(double& value, Grid grid, std::vector<const CostSample*> samples)
      : value_(value), grid_(std::move(grid)), samples_(std::move(samples)) {
    at_ = grid_.nearest(value);
  }

  // Moves up to `width` values up or down, if that is better.
  bool improve(const Calibration& calibration, size_t width) {
    const size_t before = at_;
    double best = total(calibration, before);
    size_t best_at = before;
    for (const size_t at : {before >= width ? before - width : 0,
                            std::min(before + width, grid_.values.size() - 1)}) {
      if (at == before) continue;
      const double here = total(calibration, at);
      if (here < best - 1e-9) {
        best = here;
        best_at = at;
      }
    }
    at_ = best_at;
    value_ = grid_.values[at_];
    return at_ != before;
  }

 private:
  double total(const Calibration& calibration, size_t at) {
    value_ = grid_.values[at];
    double all = grid_.penalties[at];
    for (const CostSample* sample : samples_) all += loss(*sample, calibration);
    return all;
  }

  double& value_;
  Grid grid_;
  size_t at_ = 0;
  std::vector<const CostSample*> samples_;
};

bool is_usable(const CostSample& sample) {
  return sample.seconds > 0 && std::isfinite(sample.seconds) && !sample.kernels.empty() &&
         seconds(sample, no_calibration()) > 0;
}

// In an order that depends on their content alone.
std::vector<const CostSample*> in_order(std::span<const CostSample> samples) {
  std::vector<const CostSample*> order;
  for (const CostSample& sample : samples) {
    if (is_usable(sample)) order.push_back(&sample);
  }
  std::ranges::sort(order, [](const CostSample* a, const CostSample* b) {
    if (a->name != b->name) return a->name < b->name;
    if (a->seconds != b->seconds) return a->seconds < b->seconds;
    return seconds(*a, no_calibration()) < seconds(*b, no_calibration());
  });
  return order;
}

template <typename Use>
std::vector<const CostSample*> those_that(const std::vector<const CostSample*>& samples, Use uses) {
  std::vector<const CostSample*> found;
  for (const CostSample* sample : samples) {
    if (std::ranges::any_of(sample->kernels, uses)) found.push_back(sample);
  }
  return found;
}

Calibration fit(const std::vector<const CostSample*>& samples) {
  Calibration result = no_calibration();
  result.samples = static_cast<int>(samples.size());
  std::vector<Coordinate> coordinates;
  for (size_t k = 0; k < kKernelKinds; ++k) {
    KindFactors& kind = result.kinds[k];
    const auto is_of = [k](const CostParts& parts) { return static_cast<size_t>(parts.kind) == k; };
    const std::vector<const CostSample*> of_kind = those_that(samples, is_of);
    kind.samples = static_cast<int>(of_kind.size());
    if (of_kind.empty()) continue;
    for (size_t p = 0; p < kCostParts; ++p) {
      std::vector<const CostSample*> with = those_that(
          of_kind, [&](const CostParts& parts) { return is_of(parts) && parts.seconds[p] > 0; });
      if (with.empty()) continue;
      const bool extra = kind.factors[p] == 0;
      coordinates.emplace_back(kind.factors[p], grid_of_factors(extra), std::move(with));
    }
    coordinates.emplace_back(kind.waiting, grid_of_waiting(kind.waiting), of_kind);
  }
  for (size_t width : {32, 16, 8, 4, 2, 1}) {
    bool better = true;
    for (int pass = 0; better && pass < kMostPasses; ++pass) {
      better = false;
      for (Coordinate& coordinate : coordinates) {
        if (coordinate.improve(result, width)) better = true;
      }
    }
  }
  return result;
}

}  // namespace

Calibration fit(std::span<const CostSample> samples) { return fit(in_order(samples)); }

std::vector<double> held_out_seconds(std::span<const CostSample> samples) {
  const std::vector<const CostSample*> order = in_order(samples);
  std::vector<double> result(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) result[i] = seconds(samples[i], no_calibration());
  for (size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<const CostSample*> others;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i % kFolds != fold) others.push_back(order[i]);
    }
    const Calibration fitted = fit(others);
    for (size_t i = fold; i < order.size(); i += kFolds) {
      result[static_cast<size_t>(order[i] - samples.data())] = seconds(*order[i], fitted);
    }
  }
  return result;
}

Calibration fit_validated(std::span<const CostSample> samples) {
  Calibration result = fit(samples);
  const std::vector<double> held_out = held_out_seconds(samples);
  std::vector<TimePair> before, after;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!is_usable(samples[i])) continue;
    before.push_back({seconds(samples[i], no_calibration()), samples[i].seconds});
    after.push_back({held_out[i], samples[i].seconds});
  }
  result.before = error_of(before);
  result.after = error_of(after);
  return result;
}

}  // namespace luminal::search
