// sequential: layers one after the other, numbered as torch.nn.Sequential does.
#pragma once

#include <concepts>
#include <functional>
#include <utility>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"
#include "luminal/nn/scope.h"

namespace luminal::nn {

// A function of a scope and a tensor, or of a tensor alone (relu), which then has no parameters.
class Layer {
 public:
  template <typename F>
    requires std::invocable<F&, const Scope&, const Tensor&>
  Layer(F function) : call_(std::move(function)) {}  // NOLINT: a function is a layer
  template <typename F>
    requires(std::invocable<F&, const Tensor&> &&
             !std::invocable<F&, const Scope&, const Tensor&> && !std::same_as<F, Layer>)
  Layer(F function)  // NOLINT: a function is a layer
      : call_([f = std::move(function)](const Scope&, const Tensor& x) { return f(x); }) {}

  Tensor operator()(const Scope& scope, const Tensor& x) const { return call_(scope, x); }

 private:
  std::function<Tensor(const Scope&, const Tensor&)> call_;
};

// Layer k has the scope "k": sequential(scope, x, {fc, relu, fc}) names "0.weight", "2.weight".
LUMINAL_API Tensor sequential(const Scope& scope, const Tensor& x,
                              const std::vector<Layer>& layers);

}  // namespace luminal::nn
