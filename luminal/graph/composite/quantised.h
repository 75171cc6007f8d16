// Weights quantised in groups (blocks) along their last axis: separate tensors for quants, scales
// and offsets, and their values in primitives.
//
// A file's blocks interleave scales and quants; here each has a tensor of its own, so that a kernel
// reads each of them sequentially.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// The values of a quantised weight [… k]: (quant − zero) · scale, plus the offset if there is one.
struct BlockFormat {
  DType quants = DType::U4;   // u4 if four bits are enough, else i8
  int64_t block = 32;         // quantisation group: elements of a row that share a scale; divides k
  int zero = 0;               // zero point: the quant of the value 0
  DType scales = DType::F16;  // dtype of scales and offsets
  bool offsets = false;

  bool operator==(const BlockFormat&) const = default;
};

// Suffixes of the names of a weight's tensors: "w.quants".
inline constexpr std::string_view kQuantsName = "quants";
inline constexpr std::string_view kScalesName = "scales";
inline constexpr std::string_view kOffsetsName = "offsets";

// Bits per element, including its share of scale and offset.
LUMINAL_API double bits_per_element(const BlockFormat& format);

struct Quantised {
  BlockFormat format;
  Tensor quants;                                 // [… k]
  Tensor scales;                                 // [… k / block]
  std::optional<Tensor> offsets = std::nullopt;  // [… k / block]
};

// The dequantised values, f32 [… k]; each product and sum is rounded once. UserError if the tensors
// don't fit the format or each other.
LUMINAL_API Tensor dequantise(const Quantised& weight);

// torch.nn.functional.embedding of a quantised table [n, k]; dequantises only the selected rows.
LUMINAL_API Tensor embedding(const Quantised& weight, const Tensor& index);

}  // namespace luminal
