// Elements saved by other programs: NumPy's .npy files, and files of raw elements.
#pragma once

#include <string>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor_data.h"

namespace luminal {

// The array of a .npy file in C order, without a copy where its elements are aligned; UserError
// that names the file and what is wrong with it.
LUMINAL_API TensorData read_npy(const std::string& path);

// The elements of `path`, as many as `like` has. A .npy file states its own dtype and must be in C
// order with like's dims; any other file holds raw little-endian elements of like's dtype. Throws
// UserError naming the file and what doesn't fit.
TensorData read_elements(const std::string& path, const TensorData& like);

}  // namespace luminal
