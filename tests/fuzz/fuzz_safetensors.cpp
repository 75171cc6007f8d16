// libFuzzer target of the safetensors reader: any bytes give tensors or a UserError.
//
// Each input is read three ways, so that mutations reach past the length that starts a file: as a
// file, as an index, and as a header followed by two bytes that say how much data there is.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/io/safetensors.h"
#include "luminal/io/safetensors/safetensors_header.h"

namespace {

using luminal::SafeTensors;
using luminal::TensorData;
using luminal::TensorInfo;
using luminal::UserError;

void require(bool holds) {
  if (!holds) std::abort();
}

// Reads every byte a tensor claims to have; the sanitizer sees one that isn't there.
void read_all(const TensorData& data) {
  require(static_cast<int64_t>(data.bytes.size()) == byte_size(data.dtype, data.n_elements()));
  volatile unsigned sum = 0;
  for (std::byte b : data.bytes) sum = sum + std::to_integer<unsigned>(b);
}

void read_as_file(std::span<const std::byte> input) {
  // A copy of the exact size, so that a read past the end is one past an allocation.
  auto bytes = std::make_shared<std::vector<std::byte>>(input.begin(), input.end());
  try {
    SafeTensors file = SafeTensors::parse(*bytes, bytes, "fuzz");
    for (const TensorInfo& info : file.tensors()) {
      require(file.find(info.name) == &info);
      try {
        read_all(file.data(info.name));
      } catch (const UserError&) {  // an unsupported dtype, a bad bool
      }
    }
  } catch (const UserError&) {
  }
}

void read_as_header(std::string_view text) {
  uint16_t data_bytes = 0;
  if (text.size() < sizeof(data_bytes)) return;
  std::memcpy(&data_bytes, text.data() + text.size() - sizeof(data_bytes), sizeof(data_bytes));
  text.remove_suffix(sizeof(data_bytes));
  luminal::io::Header header;
  try {
    header = luminal::io::parse_header(text, data_bytes, "fuzz");
  } catch (const UserError&) {
    return;
  }
  for (const auto& entry : header.entries) {
    if (!entry.info.dtype) return;  // its spelling isn't written back
  }
  // What was accepted prints as something that is accepted and says the same.
  std::string printed = print_header(header.entries, header.metadata);
  luminal::io::Header again = luminal::io::parse_header(printed, data_bytes, "fuzz");
  require(again.metadata == header.metadata && again.entries.size() == header.entries.size());
  for (size_t i = 0; i < header.entries.size(); ++i) {
    const auto& a = header.entries[i];
    const auto& b = again.entries[i];
    require(a.begin == b.begin && a.info.name == b.info.name && a.info.dims == b.info.dims &&
            a.info.n_bytes == b.info.n_bytes && a.info.dtype == b.info.dtype);
  }
}

void read_as_index(std::string_view text) {
  try {
    for (const auto& [name, file] : luminal::io::parse_index(text, "fuzz").weight_map) {
      require(!file.empty() && file.front() != '/' && file.find('\0') == file.npos);
      require(("/" + file + "/").find("/../") == std::string::npos);
    }
  } catch (const UserError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span input(reinterpret_cast<const std::byte*>(data), size);
  std::string_view text(reinterpret_cast<const char*>(data), size);
  read_as_file(input);
  read_as_header(text);
  read_as_index(text);
  return 0;
}
