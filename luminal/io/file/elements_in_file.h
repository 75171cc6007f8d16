// Elements that lie in a file, handed out where they are.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "luminal/graph/tensor_data.h"

namespace luminal::io {

// `bytes` as elements without a copy; copied only where they lie unaligned, so that elements may
// always be read in place.
TensorData elements_in_file(DType dtype, std::vector<int64_t> dims,
                            std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

}  // namespace luminal::io
