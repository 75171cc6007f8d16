// NASNet-A as the graph of TASO and Tensat has it: images of 224 × 224, three stages of five normal
// cells and a reduction cell, of 128 channels at first, without the classifier. Its convolutions
// have batch norms here, as in the original (Zoph et al. 2018).
#include <algorithm>

#include "apps/bench/networks/builders.h"
#include "apps/bench/networks/conv_layers.h"
#include "luminal/luminal.h"

namespace luminal::bench {
namespace {

constexpr int kReductions = 3;
constexpr int kNormalCells = 5;
constexpr int64_t kChannels = 128;

// A depthwise and a pointwise convolution.
Tensor separable(const nn::Scope& scope, const Tensor& x, int kernel, int stride = 1) {
  const int64_t n = channels(x);
  const Window depthwise = same(kernel, stride, static_cast<int>(n));
  const Tensor y = nn::conv2d(
      scope.child("depthwise"), x, n, depthwise.kernel,
      {.stride = stride, .padding = depthwise.padding, .groups = depthwise.groups, .bias = false});
  return conv_norm(scope.child("pointwise"), y, n, same(1));
}

Tensor averages(const Tensor& x, int stride = 1) {
  return avg_pool2d(x, 3, {.stride = stride, .padding = 1});
}

Tensor maxima(const Tensor& x) { return max_pool2d(x, 3, {.stride = 2, .padding = 1}); }

Tensor normal_cell(const nn::Scope& scope, const Tensor& before, const Tensor& now, int64_t n) {
  const Tensor x = conv_norm_relu(scope.child("now"), now, n, same(1));
  const Tensor p = conv_norm_relu(scope.child("before"), before, n, same(1));
  const auto conv = [&](int i, const Tensor& of) { return separable(scope.child(i), of, 3); };
  return concat({conv(0, x) + x, conv(1, p) + conv(2, x), averages(x) + p,
                 averages(p) + averages(p), conv(3, p) + conv(4, p)},
                1);
}

// Halves the image.
Tensor reduction_cell(const nn::Scope& scope, const Tensor& before, const Tensor& now, int64_t n) {
  const Tensor x = conv_norm_relu(scope.child("now"), now, n, same(1));
  const Tensor p = conv_norm_relu(scope.child("before"), before, n, same(1));
  const auto conv = [&](int i, const Tensor& of, int kernel, int stride) {
    return separable(scope.child(i), of, kernel, stride);
  };
  const Tensor first = conv(0, p, 7, 2) + conv(1, x, 5, 2);
  const Tensor second = maxima(x) + conv(2, p, 7, 2);
  return concat({first, second, averages(x, 2) + conv(3, p, 5, 2), maxima(x) + conv(4, first, 3, 1),
                 averages(first) + second},
                1);
}

}  // namespace

Tensor nasnet_a(Graph& graph, const NetworkSize& size) {
  const nn::Scope scope(graph);
  const nn::Scope cells = scope.child("cells");
  Tensor x =
      conv_norm_relu(scope.child("stem"), image(graph, size, 224), 64 / size.narrower, same(7, 2));
  x = maxima(x);
  int number = 0;
  for (int stage = 0; stage < kReductions; ++stage) {
    const int64_t n = (kChannels << stage) / size.narrower;
    Tensor before = x, now = x;
    for (int i = 0; i < std::min(kNormalCells, size.repeats); ++i) {
      Tensor next = normal_cell(cells.child(number++), before, now, n);
      before = now;
      now = next;
    }
    x = reduction_cell(cells.child(number++), before, now, 2 * n);
  }
  return x.output("y");
}

}  // namespace luminal::bench
