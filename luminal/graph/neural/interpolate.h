// Resampling along axes, and padding with elements of the tensor itself.
#pragma once

#include <optional>

#include "luminal/graph/tensor.h"

namespace luminal {

struct ResampleOptions {
  // The ratio of sizes, in / out, if it isn't that of the dims.
  std::optional<double> scale = std::nullopt;
  bool align_corners = false;  // the first and last elements stay in place
};

// `outputs` elements along an axis, each the one that its place falls on; `exact` takes the one
// whose middle is nearest.
Tensor resample_nearest(const Tensor& x, int axis, Expr outputs, const ResampleOptions& options,
                        bool exact);
// Each between two neighbours, or by four with Keys' cubic of -0.75.
Tensor resample_linear(const Tensor& x, int axis, Expr outputs, const ResampleOptions& options);
Tensor resample_cubic(const Tensor& x, int axis, Expr outputs, const ResampleOptions& options);

// x with its elements mirrored at the ends, which aren't repeated, from the other end, or with
// the last ones repeated.
Tensor pad_reflected(const Tensor& x, int axis, Expr before, Expr after);
Tensor pad_circular(const Tensor& x, int axis, Expr before, Expr after);
Tensor pad_replicated(const Tensor& x, int axis, Expr before, Expr after);

}  // namespace luminal
