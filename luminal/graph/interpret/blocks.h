// Blocks of elements: their indices, and their values in host data.
#pragma once

#include <span>
#include <vector>

#include "luminal/graph/interpret/lanes.h"
#include "luminal/graph/tensor_data.h"

namespace luminal::interpret {

// Indices of a block of `count` elements over `rank` axes, with their own memory.
struct IndexRoom {
  IndexRoom(Scratch& scratch, size_t rank, int64_t count) {
    indices.count = count;
    for (size_t axis = 0; axis < rank; ++axis) {
      axes.push_back(scratch.integers(count));
      indices.axes.push_back(axes.back());
    }
  }
  std::vector<int64_t*> axes;
  Indices indices;
};

// The indices of consecutive elements from `first` on, in row-major order.
void count_up(const std::vector<int64_t>& dims, int64_t first, IndexRoom& room);

// The indices of elements at any flat positions.
void unravel(const std::vector<int64_t>& dims, std::span<const int64_t> positions, IndexRoom& room);

// Loads the elements `at` of host data as lanes.
void load(const TensorData& data, const int64_t* at, int64_t count, Lane* out);

}  // namespace luminal::interpret
