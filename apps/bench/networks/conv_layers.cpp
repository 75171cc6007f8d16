#include "apps/bench/networks/conv_layers.h"

#include "luminal/luminal.h"

namespace luminal::bench {
namespace {

nn::Conv2dOptions options_of(const Window& window, bool bias) {
  return {
      .stride = window.stride, .padding = window.padding, .groups = window.groups, .bias = bias};
}

}  // namespace

Window same(int kernel, int stride, int groups) {
  return {.kernel = kernel, .stride = stride, .padding = kernel / 2, .groups = groups};
}

int64_t channels(const Tensor& x) { return x.dim(1).to_int().value(); }

Tensor image(Graph& graph, const NetworkSize& size, int64_t pixels) {
  if (size.pixels > 0) pixels = size.pixels;
  return graph.input("x", {1, 3, pixels, pixels});
}

Tensor conv_relu(const nn::Scope& scope, const Tensor& x, int64_t out, const Window& window) {
  return relu(nn::conv2d(scope, x, out, window.kernel, options_of(window, true)));
}

Tensor conv_norm(const nn::Scope& scope, const Tensor& x, int64_t out, const Window& window) {
  const nn::Scope norm = scope.child("norm");
  const auto by_channel = [&](const char* name) {
    return norm.weight(name, {out}).unsqueeze(-1).unsqueeze(-1);
  };
  const Tensor y =
      nn::conv2d(scope.child("conv"), x, out, window.kernel, options_of(window, false));
  return y * by_channel("weight") + by_channel("bias");
}

Tensor conv_norm_relu(const nn::Scope& scope, const Tensor& x, int64_t out, const Window& window) {
  return relu(conv_norm(scope, x, out, window));
}

Tensor classify(const nn::Scope& scope, const Tensor& x, int64_t classes) {
  return nn::linear(scope.child("fc"), mean(mean(x, -1), -1), classes);
}

}  // namespace luminal::bench
