// TensorInfo: what a file says about one of its tensors, whatever the format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "luminal/graph/composite/quantised.h"
#include "luminal/shape/dtype.h"

namespace luminal {

struct TensorInfo {
  std::string name;
  std::string file_dtype;      // as the file's format spells it: "BF16", "Q4_K"
  std::optional<DType> dtype;  // none when the library has no such dtype
  std::vector<int64_t> dims;   // the outermost first
  int64_t n_bytes = 0;
  // How a quantised tensor splits into planes; none for plain elements and for types that can't be
  // read.
  std::optional<BlockFormat> blocks = std::nullopt;
};

}  // namespace luminal
