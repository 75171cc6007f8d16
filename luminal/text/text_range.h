// TextRange: bytes begin … end - 1 of a text.
#pragma once

#include <cstddef>

namespace luminal {

struct TextRange {
  size_t begin = 0;
  size_t end = 0;

  bool operator==(const TextRange&) const = default;
};

}  // namespace luminal
