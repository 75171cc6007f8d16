#include "luminal/driver/fusion/measure_fusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "luminal/base/errors.h"
#include "luminal/driver/fusion/fusion_profile.h"
#include "luminal/driver/fusion/paired_times.h"

namespace luminal {
namespace {

// Relative to the results' root mean square: summation orders differ, and fused values aren't
// rounded to 16 bits.
double fusion_tolerance(DType dtype) {
  if (dtype == DType::BF16) return 0.1;
  return dtype == DType::F16 ? 0.02 : 1e-3;
}

void check_agreement(FusionPattern pattern, const FusionShape& shape, const PatternGraph& built,
                     const Executable& fused, const Executable& unfused) {
  for (const Tensor& result : built.results()) {
    const std::vector<double> a = fused.get<double>(result);
    const std::vector<double> b = unfused.get<double>(result);
    double squares = 0, furthest = 0;
    bool finite = true;
    for (size_t i = 0; i < a.size(); ++i) {
      squares += b[i] * b[i];
      furthest = std::max(furthest, std::abs(a[i] - b[i]));
      finite = finite && std::isfinite(a[i]) && std::isfinite(b[i]);
    }
    const double mean = std::sqrt(squares / static_cast<double>(a.size()));
    if (!finite || furthest > fusion_tolerance(shape.dtype) * mean) {
      throw InternalError(
          fmt::format("{} of {}: fused and unfused results differ by {:.3g}, where their root mean "
                      "square is {:.3g}",
                      name(pattern), text(shape), furthest, mean));
    }
  }
}

}  // namespace

FusionShape measured_shape(FusionPattern pattern, const FusionShape& shape) {
  if (shape.tokens < 1 || shape.hidden < 1 || shape.intermediate < 1 || !is_float(shape.dtype)) {
    throw UserError(
        fmt::format("should_fuse: {} of {} can't be measured; give sizes of at least 1 "
                    "and a float dtype",
                    name(pattern), text(shape)));
  }
  FusionShape result = shape;
  result.intermediate = std::min(result.intermediate, kMostFusionColumns);
  return result;
}

int FusionRival::n_kernels() const {
  return static_cast<int>(report.kernels.size() - report.n_packing());
}

std::string FusionRival::text() const {
  std::string kernels;
  for (const KernelReport& kernel : report.kernels) kernels += kernel.text;
  return kernels;
}

FusionRival fusion_rival(const PatternGraph& pattern, const CompileOptions& options,
                         std::map<std::string, FusionPolicy> groups) {
  CompileReport report;
  CompileOptions own;
  own.backend = options.backend;
  own.backend.float64 = false;
  own.plan.numerics = options.plan.numerics;
  own.plan.fusion_groups = std::move(groups);
  own.search.mode = SearchMode::Modelled;
  own.search.seed = options.search.seed;
  own.storage = options.storage;
  own.report = &report;
  Executable executable = compile(pattern.graph(), own);
  pattern.set_leaves(executable);
  return {std::move(executable), std::move(report)};
}

FusionAnswer measure_fusion(FusionPattern pattern, const FusionShape& shape,
                            const CompileOptions& options, const FusionTiming& timing) {
  const PatternGraph built(pattern, measured_shape(pattern, shape), timing.seed);
  const std::string group(name(pattern));
  FusionRival fused = fusion_rival(built, options, {{group, FusionPolicy::Always}});
  FusionRival unfused = fusion_rival(built, options, {{group, FusionPolicy::Never}});
  FusionAnswer answer{.fused_kernels = fused.n_kernels(), .unfused_kernels = unfused.n_kernels()};
  if (fused.text() == unfused.text()) {
    answer.note = note_on(answer);
    return answer;
  }
  fused.executable.run();
  unfused.executable.run();
  check_agreement(pattern, shape, built, fused.executable, unfused.executable);
  const PairedTimes times = paired_times(
      {[&] { fused.executable.run(); }, [&] { unfused.executable.run(); }}, timing.seconds);
  const MedianInterval ratio = ratio_of(times[0], times[1]);
  answer.ratio = ratio.median;
  answer.low = ratio.low;
  answer.high = ratio.high;
  answer.rounds = static_cast<int>(times[0].size());
  answer.note = note_on(answer);
  answer.fuse = is_fusing_better(answer);
  return answer;
}

}  // namespace luminal
