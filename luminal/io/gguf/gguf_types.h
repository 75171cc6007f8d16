// The tensor types of GGUF: how many elements and bytes a block of each has.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "luminal/shape/dtype.h"

namespace luminal::io {

struct GgufType {
  uint32_t number;  // as files hold it
  std::string_view text;
  int64_t block_elements;      // consecutive along the innermost dim
  int64_t block_bytes;         // of one block
  std::optional<DType> dtype;  // of types that are plain elements
};

// Null for a number that no type has. Types that can't be computed with are here too, so that their
// sizes can be checked.
const GgufType* find_gguf_type(uint32_t number);

}  // namespace luminal::io
