// Elements of other programs, which may lie in memory in any order.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "luminal/graph/tensor_data.h"

namespace luminal {

// Strides are in elements; a dim that is repeated has 0.

// Whether the elements are in row-major order without gaps. No elements are.
bool is_row_major(std::span<const int64_t> dims, std::span<const int64_t> strides);

// Copies elements of `item` bytes between memory with strides and memory in row-major order.
// Neither allocates.
void copy_to_row_major(std::span<const int64_t> dims, std::span<const int64_t> strides, size_t item,
                       const std::byte* from, std::byte* to);
void copy_from_row_major(std::span<const int64_t> dims, std::span<const int64_t> strides,
                         size_t item, const std::byte* from, std::byte* to);

// Elements at `first`. Shared where they are in row-major order, else copied. UserError where there
// are more than 64 bits can count.
TensorData row_major(DType dtype, std::vector<int64_t> dims, const std::vector<int64_t>& strides,
                     const std::byte* first, std::shared_ptr<const void> owner);

}  // namespace luminal
