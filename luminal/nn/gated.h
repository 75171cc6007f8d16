// A feed-forward layer whose hidden units are gated, as in Llama and its kin.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "luminal/base/visibility.h"
#include "luminal/graph/composite/activation.h"
#include "luminal/graph/tensor.h"
#include "luminal/nn/scope.h"

namespace luminal::nn {

// Scopes of the projections below the layer's.
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

// down(activation(gate(x)) · up(x)); `hidden` features between. With silu: SwiGLU.
LUMINAL_API Tensor gated_feed_forward(const Scope& scope, const Tensor& x, int64_t hidden,
                                      const GatedOptions& options = {});

}  // namespace luminal::nn
