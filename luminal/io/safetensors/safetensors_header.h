// The JSON header of a safetensors file, and the index of a sharded model: text to checked values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "luminal/io/safetensors.h"

namespace luminal::io {

// Larger headers are refused, as by the format's reference implementation.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;

struct HeaderEntry {
  TensorInfo info;
  int64_t begin = 0;  // within the data, which follows the header
};

struct Header {
  std::vector<HeaderEntry> entries;  // sorted by name
  Metadata metadata;
};

// Checks everything the format asks for: types and ranges of all fields, names and keys that occur
// once, sizes that match, and data that is covered exactly, without overlaps or holes. `file`
// stands in messages (UserError). Memory stays within a small multiple of `text`.
Header parse_header(std::string_view text, int64_t data_bytes, const std::string& file);

// What parse_header reads, padded to a multiple of 8. Entries go in the order given.
std::string print_header(const std::vector<HeaderEntry>& entries, const Metadata& metadata);

struct ShardIndex {
  // Tensor and the file that holds it, relative to the index and inside its folder; sorted by name.
  std::vector<std::pair<std::string, std::string>> weight_map;
};

ShardIndex parse_index(std::string_view text, const std::string& file);
std::string print_index(const ShardIndex& index, int64_t total_bytes);

// How the format spells a dtype; empty when it can't.
std::string_view file_dtype(DType dtype);

}  // namespace luminal::io
