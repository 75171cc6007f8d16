// Positions in row-major tensors whose sizes are known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace luminal {

// The multi-dimensional index of element number `flat`.
inline std::vector<int64_t> position_of(int64_t flat, std::span<const int64_t> sizes) {
  std::vector<int64_t> position(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0; flat /= sizes[axis]) {
    position[axis] = flat % sizes[axis];
  }
  return position;
}

}  // namespace luminal
