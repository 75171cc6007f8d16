// SqueezeNet 1.1 (Iandola et al. 2016; the smaller version of its authors' repository).
#include <algorithm>

#include "apps/bench/networks/builders.h"
#include "apps/bench/networks/conv_layers.h"
#include "luminal/luminal.h"

namespace luminal::bench {
namespace {

// Few channels, from which convolutions of two sizes make the result.
Tensor fire(const nn::Scope& scope, const Tensor& x, int64_t squeezed, int64_t expanded) {
  const Tensor few = conv_relu(scope.child("squeeze"), x, squeezed, same(1));
  return concat({conv_relu(scope.child("expand1"), few, expanded, same(1)),
                 conv_relu(scope.child("expand3"), few, expanded, same(3))},
                1);
}

}  // namespace

Tensor squeezenet(Graph& graph, const NetworkSize& size) {
  const nn::Scope scope(graph);
  const nn::Scope fires = scope.child("fires");
  const auto pooled = [](const Tensor& x) { return max_pool2d(x, 3, {.stride = 2}); };
  Tensor x = conv_relu(scope.child("stem"), image(graph, size, 224), 64 / size.narrower,
                       {.kernel = 3, .stride = 2});
  int number = 0;
  for (const std::vector<int64_t>& squeezed :
       {std::vector<int64_t>{16, 16}, {32, 32}, {48, 48, 64, 64}}) {
    x = pooled(x);
    const auto count = std::min<size_t>(squeezed.size(), static_cast<size_t>(size.repeats));
    for (size_t i = 0; i < count; ++i) {
      const int64_t few = squeezed[i] / size.narrower;
      x = fire(fires.child(number++), x, few, 4 * few);
    }
  }
  x = conv_relu(scope.child("head"), x, 1000 / size.narrower, same(1));
  return mean(mean(x, -1), -1).output("y");
}

}  // namespace luminal::bench
