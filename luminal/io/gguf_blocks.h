// The blocks of a GGUF tensor taken apart into planes (graph/composite/quantised.h).
//
// Planes hold what the blocks hold, so that the values are those of the file's format bit by bit.
// Super-blocks (Q4_K, Q5_K, Q6_K) give each of their sub-blocks one f32 scale, and one f32 offset
// where they have minima: the product of two numbers of 11 and 7 bits, which f32 holds exactly.
// Bits of an element in the file and as planes: Q4_0 4.5 and 4.5, Q4_1 5 and 5, Q5_0 5.5 and 8.5,
// Q5_1 6 and 9, Q8_0 8.5 and 8.5, Q4_K 4.5 and 6, Q5_K 5.5 and 10, Q6_K 6.5625 and 10.
#pragma once

#include <optional>
#include <string_view>

#include "luminal/base/visibility.h"
#include "luminal/graph/composite/quantised.h"
#include "luminal/graph/tensor_data.h"
#include "luminal/io/gguf.h"

namespace luminal {

// The planes of a tensor of this type ("Q4_K"); none for plain elements and for types that can't be
// read.
LUMINAL_API std::optional<BlockFormat> block_format(std::string_view file_dtype);

// A plane of a tensor of the file, made anew; what Gguf::plane() gives. UserError for an unknown
// name, for a type without a block format (it names both) and for a plane the format hasn't got.
LUMINAL_API TensorData read_plane(const Gguf& file, std::string_view tensor, Plane plane);

}  // namespace luminal
