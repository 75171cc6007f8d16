// measure_fusion: a pattern's plan with everything inside against the one with everything stored,
// on this machine.
#pragma once

#include "luminal/driver/fusion/pattern_graph.h"
#include "luminal/driver/fusion/should_fuse.h"

namespace luminal {

// Wider projections are measured with so many columns: memory for weights is bounded, and what
// fusing changes per column is the same.
inline constexpr int64_t kMostFusionColumns = 16384;

// The shape that is measured for a shape asked about. UserError where it has no elements, or a
// dtype without products.
FusionShape measured_shape(FusionPattern pattern, const FusionShape& shape);

// A pattern's graph compiled under a policy for it, with its data set.
struct FusionRival {
  Executable executable;
  CompileReport report;

  int n_kernels() const;     // without those that only store weights in panels
  std::string text() const;  // of all kernels
};
FusionRival fusion_rival(const PatternGraph& pattern, const CompileOptions& options,
                         std::map<std::string, FusionPolicy> groups);

// InternalError where the results of both don't agree.
FusionAnswer measure_fusion(FusionPattern pattern, const FusionShape& shape,
                            const CompileOptions& options, const FusionTiming& timing);

}  // namespace luminal
