// VGG-19 (Simonyan and Zisserman 2015), configuration E without batch norms.
#include <algorithm>

#include "apps/bench/networks/builders.h"
#include "apps/bench/networks/conv_layers.h"
#include "luminal/luminal.h"

namespace luminal::bench {
namespace {

struct VggStage {
  int convolutions;
  int64_t channels;
};

constexpr VggStage kVggStages[] = {{2, 64}, {2, 128}, {4, 256}, {4, 512}, {4, 512}};

}  // namespace

Tensor vgg_19(Graph& graph, const NetworkSize& size) {
  const nn::Scope scope(graph);
  const nn::Scope features = scope.child("features");
  Tensor x = image(graph, size, 224);
  int number = 0;
  for (const VggStage& stage : kVggStages) {
    for (int i = 0; i < std::min(stage.convolutions, size.repeats); ++i) {
      x = conv_relu(features.child(number++), x, stage.channels / size.narrower, same(3));
    }
    x = max_pool2d(x, 2);
  }
  x = relu(nn::linear(scope.child("fc1"), x.flatten(1), 4096 / size.narrower));
  x = relu(nn::linear(scope.child("fc2"), x, 4096 / size.narrower));
  return nn::linear(scope.child("fc3"), x, 1000 / size.narrower).output("y");
}

}  // namespace luminal::bench
