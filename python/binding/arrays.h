// Array: elements on the host, as Python sees them.
#pragma once

#include <optional>

#include "binding/casters.h"
#include "luminal/graph/tensor_data.h"

namespace luminal::python {

struct Array {
  TensorData data;
  bool writable = false;  // whether Python may write to the elements
};

// The elements of an Array, of anything with the buffer protocol or DLPack, or of nested lists. An
// array that is contiguous is shared and kept alive; a strided one is copied. Lists become `wanted`
// or, without it, i64, f32 or bool; the dtype of an array never changes.
TensorData read_data(nb::handle value, std::optional<DType> wanted = std::nullopt);

// Room for results, that Python owns.
struct Results {
  Array array;
  std::span<std::byte> bytes;
};
Results make_results(DType dtype, std::vector<int64_t> dims);

}  // namespace luminal::python
