// measure_fusion: times a pattern's fused plan against the one that stores all of its values, on
// this machine.
#pragma once

#include "luminal/driver/fusion/pattern_graph.h"
#include "luminal/driver/fusion/should_fuse.h"

namespace luminal {

// Wider projections are measured with this many columns: that bounds the memory for weights, and
// the effect of fusing per column is the same.
inline constexpr int64_t kMostFusionColumns = 16384;

// The shape that is measured for a given shape. UserError if it has no elements or isn't a float
// type.
FusionShape measured_shape(FusionPattern pattern, const FusionShape& shape);

// A pattern's graph, compiled with a policy for the pattern, with its data set.
struct FusionRival {
  Executable executable;
  CompileReport report;

  int n_kernels() const;     // without kernels that only pack weights
  std::string text() const;  // of all kernels
};
FusionRival fusion_rival(const PatternGraph& pattern, const CompileOptions& options,
                         std::map<std::string, FusionPolicy> groups);

// InternalError if the results of both plans don't agree.
FusionAnswer measure_fusion(FusionPattern pattern, const FusionShape& shape,
                            const CompileOptions& options, const FusionTiming& timing);

}  // namespace luminal
