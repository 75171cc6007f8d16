// Reductions over one axis, a list of axes or all of them, and running ones along an axis.
#pragma once

#include <optional>

#include "luminal/base/visibility.h"
#include "luminal/graph/options.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// Integers and bool add and multiply as i64; an empty sum is 0, an empty product 1.
LUMINAL_API Tensor sum(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});
LUMINAL_API Tensor prod(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});
// The greatest (least) element, NaN if there is one; of none the lowest (highest) of the dtype.
LUMINAL_API Tensor max(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});
LUMINAL_API Tensor min(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});
// Whether any element (all of them) is non-zero, as bool; u8 gives u8, as PyTorch's.
LUMINAL_API Tensor any(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});
LUMINAL_API Tensor all(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});

// These take floats; f16 and bf16 compute in f32 and round once.
LUMINAL_API Tensor mean(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});
LUMINAL_API Tensor var(const Tensor& x, const Axes& axes = {}, const VarOptions& options = {});
// The square root of var: x.std() as a method. The function isn't called std, which the namespace
// is.
LUMINAL_API Tensor stddev(const Tensor& x, const Axes& axes = {}, const VarOptions& options = {});
// log Σ e^x without overflow; integers as f32.
LUMINAL_API Tensor logsumexp(const Tensor& x, const Axes& axes = {},
                             const ReduceOptions& options = {});

// The i64 index of the first greatest (least) element, where NaN counts as it; without an axis, in
// the flattened tensor.
LUMINAL_API Tensor argmax(const Tensor& x, std::optional<int> axis = std::nullopt,
                          const ReduceOptions& options = {});
LUMINAL_API Tensor argmin(const Tensor& x, std::optional<int> axis = std::nullopt,
                          const ReduceOptions& options = {});

// Element k is the sum (product, maximum) of elements 0 … k; integers add and multiply as i64.
LUMINAL_API Tensor cumsum(const Tensor& x, int axis);
LUMINAL_API Tensor cumprod(const Tensor& x, int axis);
LUMINAL_API Tensor cummax(const Tensor& x, int axis);

}  // namespace luminal
