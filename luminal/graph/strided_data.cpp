#include "luminal/graph/strided_data.h"

#include <cstring>
#include <limits>

#include "luminal/base/errors.h"

namespace luminal {
namespace {

// Elements that these dims hold.
int64_t checked_count(const std::vector<int64_t>& dims, size_t item) {
  int64_t bytes = static_cast<int64_t>(item);
  for (int64_t dim : dims) {
    if (dim == 0) return 0;
  }
  for (int64_t dim : dims) {
    if (__builtin_mul_overflow(bytes, dim, &bytes)) {
      throw UserError("an array has more elements than 64 bits count");
    }
  }
  return bytes / static_cast<int64_t>(item);
}

// From the innermost axis on, where steps of one element don't matter.
bool is_row_major(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides) {
  int64_t expected = 1;
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (dims[axis] != 1 && strides[axis] != expected) return false;
    expected *= dims[axis];
  }
  return true;
}

struct Copying {
  const std::vector<int64_t>& dims;
  const std::vector<int64_t>& strides;
  size_t item;
  std::byte* to;

  void take(size_t axis, const std::byte* from) {
    if (axis == dims.size()) {
      std::memcpy(to, from, item);
      to += item;
      return;
    }
    for (int64_t i = 0; i < dims[axis]; ++i) {
      take(axis + 1, from + i * strides[axis] * static_cast<int64_t>(item));
    }
  }
};

}  // namespace

TensorData row_major(DType dtype, std::vector<int64_t> dims, const std::vector<int64_t>& strides,
                     const std::byte* first, std::shared_ptr<const void> owner) {
  const auto item = static_cast<size_t>(byte_size(dtype, 1));
  const int64_t count = checked_count(dims, item);
  const bool aligned = reinterpret_cast<uintptr_t>(first) % item == 0;
  if (count > 0 && aligned && is_row_major(dims, strides)) {
    return {.dtype = dtype,
            .dims = std::move(dims),
            .bytes = {first, static_cast<size_t>(count) * item},
            .owner = std::move(owner)};
  }
  TensorData::Writable copy = TensorData::zeros(dtype, dims);
  if (count > 0) Copying{dims, strides, item, copy.bytes.data()}.take(0, first);
  return copy.data;
}

}  // namespace luminal
