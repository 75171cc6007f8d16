// A gated feed-forward layer, as in Llama.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "luminal/base/visibility.h"
#include "luminal/graph/composite/activation.h"
#include "luminal/graph/tensor.h"
#include "luminal/nn/scope.h"

namespace luminal::nn {

// Names of the projections' scopes, relative to the layer's.
struct GateNames {
  std::string gate = "gate_proj";
  std::string up = "up_proj";
  std::string down = "down_proj";
};

struct GatedOptions {
  GateNames names = {};
  std::function<Tensor(const Tensor&)> activation = silu;
  bool bias = false;
};

// down(activation(gate(x)) · up(x)) with `hidden` features between; SwiGLU with silu.
LUMINAL_API Tensor gated_feed_forward(const Scope& scope, const Tensor& x, int64_t hidden,
                                      const GatedOptions& options = {});

}  // namespace luminal::nn
