// The sizes that symbolic dims have in one run.
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

// Failure names the dim that has no size under `bindings`, or says that there would be more
// elements than bytes can be counted for.
Result<ResolvedDims> resolve_dims(const Dims& dims, const Bindings& bindings);

// "s = 16, t = 2"
std::string text(const Bindings& sizes);

}  // namespace luminal
