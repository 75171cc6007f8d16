#include "luminal/io/file/elements_in_file.h"

#include <cstdint>
#include <utility>

namespace luminal::io {

TensorData elements_in_file(DType dtype, std::vector<int64_t> dims,
                            std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  const auto element_size = static_cast<size_t>(byte_size(dtype, 1));
  if (reinterpret_cast<uintptr_t>(bytes.data()) % element_size != 0) {
    return TensorData::copy_bytes(dtype, bytes, std::move(dims));
  }
  return {.dtype = dtype, .dims = std::move(dims), .bytes = bytes, .owner = std::move(owner)};
}

}  // namespace luminal::io
