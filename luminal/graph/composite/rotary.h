// Rotary position embedding (RoPE).
#pragma once

#include <optional>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// Which two elements of a head are rotated together.
enum class RotaryPairs {
  Halves,       // i and i + d/2, as in Hugging Face's Llama
  Interleaved,  // 2i and 2i + 1, as in the paper
};

struct RotaryOptions {
  RotaryPairs pairs = RotaryPairs::Halves;
  double theta = 10000;
  Expr offset = 0;  // the position of the first row
  std::optional<Tensor> positions =
      std::nullopt;  // instead of offset, offset + 1, …: integers, broadcast to [… s]
  std::optional<Tensor> frequencies =
      std::nullopt;  // [d/2] radians per position, instead of theta^(-2i/d)
};

// Rotates each pair (a, b) of a row of x [… s, d] by position · frequency; f16 and bf16 are
// computed in f32 and rounded once.
LUMINAL_API Tensor rotary_embedding(const Tensor& x, const RotaryOptions& options = {});

}  // namespace luminal
