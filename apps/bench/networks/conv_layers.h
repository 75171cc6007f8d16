// The convolution layers that the networks share.
#pragma once

#include "apps/bench/networks/networks.h"
#include "luminal/graph/composite/conv.h"
#include "luminal/nn/scope.h"

namespace luminal::bench {

struct Window {
  Size2 kernel = 1;
  int stride = 1;
  Size2 padding = 0;
  int groups = 1;
};

// A square window that keeps the size of the image, or divides it by the stride.
Window same(int kernel, int stride = 1, int groups = 1);

int64_t channels(const Tensor& x);
// The image "x" [1, 3, pixels, pixels].
Tensor image(Graph& graph, const NetworkSize& size, int64_t pixels);

// Convolution with bias, and ReLU.
Tensor conv_relu(const nn::Scope& scope, const Tensor& x, int64_t out, const Window& window);
// Convolution "conv" without bias, then a scale and a shift per channel, "norm.weight" and
// "norm.bias": all that a batch norm is in inference, once its statistics are in them.
Tensor conv_norm(const nn::Scope& scope, const Tensor& x, int64_t out, const Window& window);
Tensor conv_norm_relu(const nn::Scope& scope, const Tensor& x, int64_t out, const Window& window);

// The mean of each channel, and a linear layer "fc" to `classes`.
Tensor classify(const nn::Scope& scope, const Tensor& x, int64_t classes);

}  // namespace luminal::bench
