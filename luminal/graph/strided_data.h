// Elements of other programs, which may lie in memory in any order.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "luminal/graph/tensor_data.h"

namespace luminal {

// Elements at `first` with strides in elements, of which a dim that is repeated has 0. Shared where
// they are in row-major order, else copied. UserError where there are more than 64 bits can count.
TensorData row_major(DType dtype, std::vector<int64_t> dims, const std::vector<int64_t>& strides,
                     const std::byte* first, std::shared_ptr<const void> owner);

}  // namespace luminal
