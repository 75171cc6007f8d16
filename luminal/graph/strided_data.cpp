#include "luminal/graph/strided_data.h"

#include <algorithm>
#include <cstring>

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

template <size_t kItem>
void copy_items(int64_t count, const std::byte* from, int64_t from_step, std::byte* to,
                int64_t to_step) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, kItem);
}

// One axis; steps are in bytes.
void copy_axis(int64_t count, size_t item, const std::byte* from, int64_t from_step, std::byte* to,
               int64_t to_step) {
  const auto dense = static_cast<int64_t>(item);
  if (from_step == dense && to_step == dense) {
    std::memcpy(to, from, static_cast<size_t>(count) * item);
    return;
  }
  switch (item) {
    case 1:
      return copy_items<1>(count, from, from_step, to, to_step);
    case 2:
      return copy_items<2>(count, from, from_step, to, to_step);
    case 4:
      return copy_items<4>(count, from, from_step, to, to_step);
    case 8:
      return copy_items<8>(count, from, from_step, to, to_step);
  }
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_step, from + i * from_step, item);
}

struct StridedCopy {
  std::span<const int64_t> dims;
  std::span<const int64_t> strides;
  size_t item;
  bool to_row_major;

  // From `axis` on; gives the number of row-major bytes.
  int64_t take(size_t axis, const std::byte* from, std::byte* to) const {
    const auto size = static_cast<int64_t>(item);
    if (axis == dims.size()) {
      std::memcpy(to, from, item);
      return size;
    }
    const int64_t step = strides[axis] * size;
    if (axis + 1 == dims.size()) {
      copy_axis(dims[axis], item, from, to_row_major ? step : size, to, to_row_major ? size : step);
      return dims[axis] * size;
    }
    int64_t done = 0;
    for (int64_t i = 0; i < dims[axis]; ++i) {
      done += to_row_major ? take(axis + 1, from + i * step, to + done)
                           : take(axis + 1, from + done, to + i * step);
    }
    return done;
  }
};

bool is_empty(std::span<const int64_t> dims) { return std::ranges::find(dims, 0) != dims.end(); }

}  // namespace

// From the innermost axis on, where steps of one element don't matter.
bool is_row_major(std::span<const int64_t> dims, std::span<const int64_t> strides) {
  int64_t expected = 1;
  bool in_order = true;
  for (size_t axis = dims.size(); axis-- > 0;) {
    if (dims[axis] == 0) return true;
    if (dims[axis] != 1 && strides[axis] != expected) in_order = false;
    expected *= dims[axis];
  }
  return in_order;
}

void copy_to_row_major(std::span<const int64_t> dims, std::span<const int64_t> strides, size_t item,
                       const std::byte* from, std::byte* to) {
  if (!is_empty(dims)) StridedCopy{dims, strides, item, true}.take(0, from, to);
}

void copy_from_row_major(std::span<const int64_t> dims, std::span<const int64_t> strides,
                         size_t item, const std::byte* from, std::byte* to) {
  if (!is_empty(dims)) StridedCopy{dims, strides, item, false}.take(0, from, to);
}

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
  copy_to_row_major(dims, strides, item, first, copy.bytes.data());
  return copy.data;
}

}  // namespace luminal
