// Rotary position embedding.
#pragma once

#include <optional>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// Which two elements of a head turn together.
enum class RotaryPairs {
  Halves,       // i and i + d/2, as Llama in Hugging Face's layout
  Interleaved,  // 2i and 2i + 1, as in the paper
};

struct RotaryOptions {
  RotaryPairs pairs = RotaryPairs::Halves;
  double theta = 10000;
  Expr offset = 0;  // the position of the first row
  std::optional<Tensor> positions =
      std::nullopt;  // instead of offset …: integers, broadcast to [… s]
  std::optional<Tensor> frequencies =
      std::nullopt;  // [d/2] radians per position, instead of theta^(-2i/d)
};

// x [… s, d] with each pair (a, b) of a row turned by position · frequency; f16 and bf16 compute in
// f32 and round once.
LUMINAL_API Tensor rotary_embedding(const Tensor& x, const RotaryOptions& options = {});

}  // namespace luminal
