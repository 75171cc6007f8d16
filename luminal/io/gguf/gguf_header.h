// The head of a GGUF file: its metadata and where its tensors lie, checked against the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "luminal/io/gguf.h"

namespace luminal::io {

struct GgufTensor {
  TensorInfo info;
  size_t begin = 0;  // within the file
};

struct GgufHeader {
  uint32_t version = 0;
  int64_t alignment = 0;
  std::vector<GgufEntry> metadata;  // sorted by key
  std::vector<GgufTensor> tensors;  // sorted by name
};

// Checks every length, count, offset and number before it is used; keys and names that occur once;
// tensors that lie in the file, aligned, and don't overlap. `file` stands in messages (UserError).
// Memory stays within a small multiple of the bytes read.
GgufHeader parse_gguf_header(std::span<const std::byte> bytes, const std::string& file);

}  // namespace luminal::io
