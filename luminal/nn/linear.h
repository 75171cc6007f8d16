// Layers that multiply by a weight or look up its rows: Linear, Conv, Embedding.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/graph/composite/conv.h"
#include "luminal/graph/tensor.h"
#include "luminal/nn/scope.h"

namespace luminal::nn {

struct LinearOptions {
  bool bias = true;
};

// torch.nn.Linear: x · weightᵀ + bias over the last axis; weight [out, in], bias [out].
LUMINAL_API Tensor linear(const Scope& scope, const Tensor& x, int64_t out_features,
                          const LinearOptions& options = {});

struct Conv1dOptions {
  Expr stride = 1;
  Expr padding = 0;
  Expr dilation = 1;
  int groups = 1;
  bool bias = true;
};

struct Conv2dOptions {
  Size2 stride = 1;
  Size2 padding = 0;
  Size2 dilation = 1;
  int groups = 1;
  bool bias = true;
};

// torch.nn.Conv1d of x [n, in, length] or [in, length]; weight [out, in / groups, kernel], bias
// [out].
LUMINAL_API Tensor conv1d(const Scope& scope, const Tensor& x, int64_t out_channels, int64_t kernel,
                          const Conv1dOptions& options = {});
// torch.nn.Conv2d of x [n, in, h, w] or [in, h, w]; weight [out, in / groups, kernel…], bias [out].
LUMINAL_API Tensor conv2d(const Scope& scope, const Tensor& x, int64_t out_channels,
                          const Size2& kernel, const Conv2dOptions& options = {});

// torch.nn.Embedding: one row of weight [n, features] per index (i64 or i32).
LUMINAL_API Tensor embedding(const Scope& scope, const Tensor& index, int64_t n, int64_t features);

}  // namespace luminal::nn
