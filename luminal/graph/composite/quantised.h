// Weights quantised in blocks along their last axis: planes of plain tensors, and their values in
// primitives.
//
// A file's blocks mix scales and quants; here each has a tensor of its own, so that a kernel reads
// every one of them in order.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// How the planes of a weight [… k] make its values: (quant − zero) · scale, plus an offset if
// there are offsets.
struct BlockFormat {
  DType quants = DType::U4;   // i8, or u4 where four bits hold them
  int64_t block = 32;         // consecutive elements of a row that share a scale; divides k
  int zero = 0;               // the quant that stands for 0
  DType scales = DType::F16;  // and of the offsets
  bool offsets = false;

  bool operator==(const BlockFormat&) const = default;
};

// What follows the name of a weight and a dot in the names of its planes: "w.quants".
inline constexpr std::string_view kQuantsName = "quants";
inline constexpr std::string_view kScalesName = "scales";
inline constexpr std::string_view kOffsetsName = "offsets";

// Bits of memory that an element takes, its share of scale and offset included.
LUMINAL_API double bits_per_element(const BlockFormat& format);

struct Quantised {
  BlockFormat format;
  Tensor quants;                                 // [… k]
  Tensor scales;                                 // [… k / block]
  std::optional<Tensor> offsets = std::nullopt;  // as scales
};

// The values, f32 [… k]: one rounding for each product and sum. UserError where planes don't fit
// the format or each other.
LUMINAL_API Tensor dequantise(const Quantised& weight);

// torch.nn.functional.embedding of a quantised table [n, k]: only the rows asked for become f32.
LUMINAL_API Tensor embedding(const Quantised& weight, const Tensor& index);

}  // namespace luminal
