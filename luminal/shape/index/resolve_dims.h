// The concrete sizes of symbolic dims in one run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "luminal/base/result.h"
#include "luminal/shape/dtype.h"
#include "luminal/shape/index_map.h"

namespace luminal {

struct ResolvedDims {
  std::vector<int64_t> sizes;
  int64_t count = 1;  // of elements

  size_t bytes(DType dtype) const { return static_cast<size_t>(byte_size(dtype, count)); }
};

// Fails if a dim has no size under `bindings`, which the message names, or if the number of bytes
// would overflow.
Result<ResolvedDims> resolve_dims(const Dims& dims, const Bindings& bindings);

// "s = 16, t = 2"
std::string text(const Bindings& sizes);

}  // namespace luminal
