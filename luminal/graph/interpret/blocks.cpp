#include "luminal/graph/interpret/blocks.h"

#include <cstring>

#include "luminal/shape/index/position.h"
#include "luminal/shape/scalar.h"

namespace luminal::interpret {
namespace {

template <typename T, typename Convert>
void load_lanes(const std::byte* data, const int64_t* at, int64_t count, Lane* out,
                Convert convert) {
  for (int64_t j = 0; j < count; ++j) {
    T value;
    std::memcpy(&value, data + at[j] * static_cast<int64_t>(sizeof(T)), sizeof(T));
    convert(value, out[j]);
  }
}

}  // namespace

void count_up(const std::vector<int64_t>& dims, int64_t first, IndexRoom& room) {
  std::vector<int64_t> at = position_of(first, dims);
  for (int64_t j = 0; j < room.indices.count; ++j) {
    for (size_t axis = 0; axis < dims.size(); ++axis) room.axes[axis][j] = at[axis];
    for (size_t axis = dims.size(); axis-- > 0;) {
      if (++at[axis] < dims[axis]) break;
      at[axis] = 0;
    }
  }
}

void unravel(const std::vector<int64_t>& dims, std::span<const int64_t> positions,
             IndexRoom& room) {
  for (size_t j = 0; j < positions.size(); ++j) {
    int64_t rest = positions[j];
    for (size_t axis = dims.size(); axis-- > 0;) {
      room.axes[axis][j] = rest % dims[axis];
      rest /= dims[axis];
    }
  }
}

// f32, the most common dtype, is handled without a call per element.
void load(const TensorData& data, const int64_t* at, int64_t count, Lane* out) {
  const std::byte* bytes = data.bytes.data();
  if (data.dtype == DType::F32) {
    return load_lanes<float>(bytes, at, count, out, [](float v, Lane& lane) { lane.real = v; });
  }
  for (int64_t j = 0; j < count; ++j) {
    if (is_float(data.dtype)) {
      out[j].real = load_float(data.dtype, bytes, at[j]);
    } else {
      out[j].integer = load_int(data.dtype, bytes, at[j]);
    }
  }
}

}  // namespace luminal::interpret
