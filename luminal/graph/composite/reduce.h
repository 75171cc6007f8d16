// Reductions over one axis, several or all axes, and cumulative ones along an axis.
#pragma once

#include <optional>

#include "luminal/base/visibility.h"
#include "luminal/graph/options.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// Integers and bool are summed and multiplied as i64; an empty sum is 0, an empty product 1.
LUMINAL_API Tensor sum(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});
LUMINAL_API Tensor prod(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});
// The maximum (minimum), NaN if there is one; of no elements, the lowest (highest) of the dtype.
LUMINAL_API Tensor max(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});
LUMINAL_API Tensor min(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});
// Whether any (all) elements are non-zero, as bool; u8 gives u8, as in PyTorch.
LUMINAL_API Tensor any(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});
LUMINAL_API Tensor all(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});

// For floats; f16 and bf16 are computed in f32 and rounded once.
LUMINAL_API Tensor mean(const Tensor& x, const Axes& axes = {}, const ReduceOptions& options = {});
LUMINAL_API Tensor var(const Tensor& x, const Axes& axes = {}, const VarOptions& options = {});
// The square root of var; as a method, x.std(). A function can't be named std.
LUMINAL_API Tensor stddev(const Tensor& x, const Axes& axes = {}, const VarOptions& options = {});
// log Σ e^x without overflow; integers are taken as f32.
LUMINAL_API Tensor logsumexp(const Tensor& x, const Axes& axes = {},
                             const ReduceOptions& options = {});

// The i64 index of the first maximum (minimum), where NaN counts as one; without an axis, in the
// flattened tensor.
LUMINAL_API Tensor argmax(const Tensor& x, std::optional<int> axis = std::nullopt,
                          const ReduceOptions& options = {});
LUMINAL_API Tensor argmin(const Tensor& x, std::optional<int> axis = std::nullopt,
                          const ReduceOptions& options = {});

// Element k is the sum (product, maximum) of elements 0 … k; integers add and multiply as i64.
LUMINAL_API Tensor cumsum(const Tensor& x, int axis);
LUMINAL_API Tensor cumprod(const Tensor& x, int axis);
LUMINAL_API Tensor cummax(const Tensor& x, int axis);

}  // namespace luminal
