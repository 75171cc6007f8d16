// Operands as PyTorch promotes them: a tensor without dims counts as a number.
#pragma once

#include <utility>

#include "luminal/pytorch/aten/arguments.h"

namespace luminal::pytorch {

// Both operands; one without dims has the other's dtype, unless its kind is higher.
std::pair<Tensor, Tensor> promoted(Tensor a, Tensor b);

// f of two operands, of which one may be a number.
template <typename F>
Tensor of_operands(const Arguments& of, size_t first, size_t second, F f) {
  if (!of.is_tensor(first)) return f(of.scalar(first), of.tensor(second));
  if (!of.is_tensor(second)) return f(of.tensor(first), of.scalar(second));
  const auto [a, b] = promoted(of.tensor(first), of.tensor(second));
  return f(a, b);
}

}  // namespace luminal::pytorch
