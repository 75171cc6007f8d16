// An RNN of the cell that neural architecture search found (Zoph and Le 2017): five steps of 512
// features. As in Tensat's and TASO's graph of it, each step has weights of its own.
#include <algorithm>

#include "apps/bench/networks/builders.h"
#include "luminal/luminal.h"

namespace luminal::bench {
namespace {

constexpr int kSteps = 5;

// Eight sums of two products, combined in pairs.
Tensor cell(const nn::Scope& scope, const Tensor& x, const Tensor& state) {
  const int64_t features = x.dim(-1).to_int().value();
  const auto sum = [&](int i) {
    return nn::linear(scope.child("x").child(i), x, features, {.bias = false}) +
           nn::linear(scope.child("state").child(i), state, features, {.bias = false});
  };
  const Tensor a = relu(sum(0)) + sigmoid(sum(3));
  const Tensor b = sigmoid(sum(1)) + tanh(sum(2));
  const Tensor c = sigmoid(sum(4)) * tanh(sum(5));
  const Tensor d = sigmoid(sum(6)) * relu(sum(7));
  const Tensor e = sigmoid(b) + tanh(c);
  const Tensor f = tanh(a) * tanh(d);
  return tanh(tanh(e) * tanh(f));
}

}  // namespace

Tensor nasrnn(Graph& graph, const NetworkSize& size) {
  const nn::Scope scope(graph);
  const int64_t features = 512 / size.narrower;
  const int steps = std::min(kSteps, size.repeats);
  const Tensor x = graph.input("x", {steps, features});
  Tensor state = scope.weight("state", {1, features});
  for (int i = 0; i < steps; ++i) {
    state = cell(scope.child("steps").child(i), x.narrow(0, i, 1), state);
  }
  return state.output("y");
}

}  // namespace luminal::bench
