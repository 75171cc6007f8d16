#include "luminal/search/cost/calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "luminal/base/check.h"

namespace luminal::search {
namespace {

constexpr std::string_view kKindNames[] = {"element-wise",
                                           "reduction",
                                           "indexed",
                                           "untiled products",
                                           "GEMM",
                                           "16-bit GEMM",
                                           "quantised GEMM",
                                           "convolution",
                                           "GEMV",
                                           "quantised GEMV",
                                           "convolution of few rows",
                                           "row blocks",
                                           "attention",
                                           "split attention"};
static_assert(std::size(kKindNames) == kKernelKinds);

constexpr std::string_view kPartNames[] = {"memory",
                                           "l3",
                                           "l2",
                                           "products",
                                           "arithmetic",
                                           "divisions",
                                           "transcendentals",
                                           "reordered",
                                           "widened",
                                           "computed",
                                           "entering",
                                           "converted",
                                           "strided",
                                           "rows",
                                           "f16_functions",
                                           "sums",
                                           "copied",
                                           "launch",
                                           "launch_alone"};
static_assert(std::size(kPartNames) == kCostParts);

// Loading, multiplying and storing of tiles overlap only in part.
constexpr double kTiledWaiting = 0.25;

bool is_tiled(KernelKind kind) {
  return kind >= KernelKind::Gemm && kind != KernelKind::SplitAttention;
}

bool is_extra(CostPart part) { return part >= CostPart::Converted && part <= CostPart::Sums; }

Calibration without_samples() {
  Calibration calibration;
  for (size_t k = 0; k < kKernelKinds; ++k) {
    KindFactors& kind = calibration.kinds[k];
    kind.waiting = is_tiled(static_cast<KernelKind>(k)) ? kTiledWaiting : 0;
    for (size_t p = 0; p < kCostParts; ++p) {
      kind.factors[p] = is_extra(static_cast<CostPart>(p)) ? 0 : 1;
    }
  }
  return calibration;
}

double sum(const CostParts& parts, const KindFactors& kind, CostPart first, CostPart last) {
  double all = 0;
  for (auto p = static_cast<size_t>(first); p <= static_cast<size_t>(last); ++p) {
    all += kind.factors[p] * parts.seconds[p];
  }
  return all;
}

double seconds(const CostParts& parts, const KindFactors& kind) {
  const double bytes = sum(parts, kind, CostPart::Memory, CostPart::L2);
  const double arithmetic = sum(parts, kind, CostPart::Products, CostPart::Sums);
  const double waiting = kind.waiting > 0 ? kind.waiting * std::min(bytes, arithmetic) : 0;
  return std::max(bytes, arithmetic) + waiting +
         kind.of(CostPart::Copied) * parts.of(CostPart::Copied) +
         kind.of(CostPart::Launch) * parts.of(CostPart::Launch) +
         kind.of(CostPart::LaunchAlone) * parts.of(CostPart::LaunchAlone);
}

}  // namespace

std::string_view name(KernelKind kind) { return kKindNames[static_cast<size_t>(kind)]; }
std::string_view name(CostPart part) { return kPartNames[static_cast<size_t>(part)]; }

const Calibration& no_calibration() {
  static const Calibration calibration = without_samples();
  return calibration;
}

double seconds(const CostParts& parts, const Calibration& calibration) {
  return seconds(parts, calibration.of(parts.kind));
}

double seconds(const CostSample& sample, const Calibration& calibration) {
  double all = 0;
  for (const CostParts& parts : sample.kernels) all += seconds(parts, calibration);
  return all;
}

namespace {

// Ranks from 0; equal values share their mean rank.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](size_t a, size_t b) {
    return values[a] != values[b] ? values[a] < values[b] : a < b;
  });
  std::vector<double> result(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (size_t i = first; i < end; ++i) {
      result[order[i]] = static_cast<double>(first + end - 1) / 2;
    }
    first = end;
  }
  return result;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double middle = static_cast<double>(a.size() - 1) / 2;  // of ranks
  double product = 0, of_a = 0, of_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += (a[i] - middle) * (b[i] - middle);
    of_a += (a[i] - middle) * (a[i] - middle);
    of_b += (b[i] - middle) * (b[i] - middle);
  }
  return of_a > 0 && of_b > 0 ? product / std::sqrt(of_a * of_b) : 0;
}

}  // namespace

ModelError error_of(std::span<const TimePair> times) {
  if (times.empty()) return {};
  std::vector<double> modelled, measured, off;
  for (const TimePair& time : times) {
    modelled.push_back(time.modelled);
    measured.push_back(time.measured);
    off.push_back(std::max(time.modelled, time.measured) / std::min(time.modelled, time.measured));
  }
  std::ranges::sort(off);
  const size_t middle = off.size() / 2;
  return {.kernels = static_cast<int>(times.size()),
          .median_ratio = off.size() % 2 == 1 ? off[middle] : (off[middle - 1] + off[middle]) / 2,
          .rank_correlation = correlation(ranks(modelled), ranks(measured))};
}

}  // namespace luminal::search
