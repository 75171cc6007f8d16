// Builds the bytes of a GGUF file piece by piece, right or wrong.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "luminal/io/gguf.h"

namespace luminal {

template <typename T>
std::string raw(T value) {
  static_assert(std::is_arithmetic_v<T>);
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// A string with its length before it.
inline std::string counted(std::string_view text) {
  return raw(uint64_t{text.size()}) + std::string(text);
}

inline std::string kind_number(GgufKind kind) { return raw(static_cast<uint32_t>(kind)); }

// Key, kind and value of a metadata entry.
inline std::string entry(std::string_view key, GgufKind kind, const std::string& value) {
  return counted(key) + kind_number(kind) + value;
}

inline std::string array_of(GgufKind element, uint64_t count, const std::string& values) {
  return kind_number(element) + raw(count) + values;
}

// A tensor of the list; dims innermost first, as the file has them.
inline std::string tensor(std::string_view name, const std::vector<uint64_t>& dims, uint32_t type,
                          uint64_t offset) {
  std::string bytes = counted(name) + raw(static_cast<uint32_t>(dims.size()));
  for (uint64_t dim : dims) bytes += raw(dim);
  return bytes + raw(type) + raw(offset);
}

struct GgufParts {
  uint32_t version = 3;
  std::vector<std::string> tensors = {};
  std::vector<std::string> metadata = {};
  std::string data = {};
  size_t alignment = 32;

  std::string bytes() const {
    std::string file =
        "GGUF" + raw(version) + raw(uint64_t{tensors.size()}) + raw(uint64_t{metadata.size()});
    for (const std::string& part : metadata) file += part;
    for (const std::string& part : tensors) file += part;
    if (!data.empty()) file.resize((file.size() + alignment - 1) / alignment * alignment, '\0');
    return file + data;
  }
};

}  // namespace luminal
