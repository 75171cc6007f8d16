// Convolution and pooling over one or two trailing spatial axes. Inputs are [n, channels, …] or,
// without a batch, [channels, …].
#pragma once

#include <concepts>
#include <optional>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// A size along height and width.
struct Size2 {
  template <std::integral T>
  Size2(T both) : h(both), w(both) {}     // NOLINT: one size for both
  Size2(Expr both) : h(both), w(both) {}  // NOLINT: one size for both
  Size2(Expr height, Expr width) : h(height), w(width) {}
  Expr h, w;
};

struct Conv1dOptions {
  Expr stride = 1;
  Expr padding = 0;
  Expr dilation = 1;
  int groups = 1;
};

struct Conv2dOptions {
  Size2 stride = 1;
  Size2 padding = 0;
  Size2 dilation = 1;
  int groups = 1;
};

// weight is [out, channels / groups, kernel…], bias [out].
LUMINAL_API Tensor conv1d(const Tensor& x, const Tensor& weight,
                          const std::optional<Tensor>& bias = std::nullopt,
                          const Conv1dOptions& options = {});
LUMINAL_API Tensor conv2d(const Tensor& x, const Tensor& weight,
                          const std::optional<Tensor>& bias = std::nullopt,
                          const Conv2dOptions& options = {});

struct Pool1dOptions {
  std::optional<Expr> stride = std::nullopt;  // default: the kernel's size
  Expr padding = 0;
  bool count_include_pad = true;  // avg_pool: whether padding counts in the divisor
};

struct Pool2dOptions {
  std::optional<Size2> stride = std::nullopt;  // default: the kernel's size
  Size2 padding = 0;
  bool count_include_pad = true;  // avg_pool: whether padding counts in the divisor
};

// The maximum of each window; padding never wins.
LUMINAL_API Tensor max_pool1d(const Tensor& x, Expr kernel, const Pool1dOptions& options = {});
LUMINAL_API Tensor max_pool2d(const Tensor& x, const Size2& kernel,
                              const Pool2dOptions& options = {});
// The mean of each window; floats only.
LUMINAL_API Tensor avg_pool1d(const Tensor& x, Expr kernel, const Pool1dOptions& options = {});
LUMINAL_API Tensor avg_pool2d(const Tensor& x, const Size2& kernel,
                              const Pool2dOptions& options = {});

}  // namespace luminal
