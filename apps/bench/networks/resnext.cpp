// ResNeXt-50 32x4d (Xie et al. 2017).
#include <fmt/format.h>

#include <algorithm>

#include "apps/bench/networks/builders.h"
#include "apps/bench/networks/conv_layers.h"
#include "luminal/luminal.h"

namespace luminal::bench {
namespace {

constexpr int kBlocks[] = {3, 4, 6, 3};
constexpr int64_t kChannelsPerGroup = 4;

// A bottleneck with a grouped convolution: `width` channels inside, twice as many outside.
Tensor block(const nn::Scope& scope, const Tensor& x, int64_t width, int stride, int groups) {
  Tensor y = conv_norm_relu(scope.child("conv1"), x, width, same(1));
  y = conv_norm_relu(scope.child("conv2"), y, width, same(3, stride, groups));
  y = conv_norm(scope.child("conv3"), y, 2 * width, same(1));
  const bool same_dims = stride == 1 && channels(x) == 2 * width;
  return relu(y +
              (same_dims ? x : conv_norm(scope.child("shortcut"), x, 2 * width, same(1, stride))));
}

}  // namespace

Tensor resnext_50(Graph& graph, const NetworkSize& size) {
  const nn::Scope scope(graph);
  const int64_t first_width = 128 / size.narrower;
  const int groups = static_cast<int>(first_width / kChannelsPerGroup);
  Tensor x =
      conv_norm_relu(scope.child("stem"), image(graph, size, 224), 64 / size.narrower, same(7, 2));
  x = max_pool2d(x, 3, {.stride = 2, .padding = 1});
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < std::min(kBlocks[stage], size.repeats); ++i) {
      const int stride = stage > 0 && i == 0 ? 2 : 1;
      x = block(scope.child(fmt::format("blocks{}.{}", stage, i)), x, first_width << stage, stride,
                groups);
    }
  }
  return classify(scope, x, 1000 / size.narrower).output("y");
}

}  // namespace luminal::bench
