#include "luminal/nn/sequential.h"

namespace luminal::nn {

Tensor sequential(const Scope& scope, const Tensor& x, const std::vector<Layer>& layers) {
  Tensor y = x;
  for (size_t i = 0; i < layers.size(); ++i) y = layers[i](scope.child(static_cast<int>(i)), y);
  return y;
}

}  // namespace luminal::nn
