// libFuzzer target of the GGUF reader: any bytes give metadata and tensors or a UserError.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/io/gguf.h"
#include "luminal/io/gguf_blocks.h"

namespace {

using luminal::block_format;
using luminal::Gguf;
using luminal::GgufEntry;
using luminal::GgufKind;
using luminal::GgufValue;
using luminal::read_values;
using luminal::TensorInfo;
using luminal::UserError;

void require(bool holds) {
  if (!holds) std::abort();
}

// Reads every byte, so that the sanitizer sees one that isn't there.
void read_all(std::span<const std::byte> bytes) {
  volatile unsigned sum = 0;
  for (std::byte b : bytes) sum = sum + std::to_integer<unsigned>(b);
}

void read_value(const GgufValue& value) {
  read_all(value.bytes);
  for (std::string_view text : value.texts) read_all(std::as_bytes(std::span(text)));
  for (const GgufValue& inner : value.arrays) read_value(inner);
  require(value.kind == GgufKind::Array || value.size() == 1);
  if (const auto ints = value.to_ints()) require(ints->size() == value.size());
  if (const auto reals = value.to_reals()) require(reals->size() == value.size());
  if (const auto texts = value.to_texts()) require(texts->size() == value.size());
  // An integer is a number too, and nothing is both a number and something else.
  if (value.to_int()) require(value.to_real().has_value());
  require(!(value.to_real() && value.to_bool()) && !(value.to_real() && value.to_text()));
}

void read_file(const Gguf& file) {
  for (const GgufEntry& entry : file.metadata()) {
    require(file.value(entry.key) == &entry.value);
    read_value(entry.value);
  }
  for (const TensorInfo& info : file.tensors()) {
    require(file.find(info.name) == &info);
    require(static_cast<int64_t>(file.bytes(info.name).size()) == info.n_bytes);
    read_all(file.bytes(info.name));
    if (info.dtype) read_all(file.data(info.name).bytes);
    if (block_format(info.file_dtype)) read_all(read_values(file, info.name).bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // A copy of the exact size, so that a read past the end is one past an allocation.
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  auto bytes = std::make_shared<std::vector<std::byte>>(begin, begin + size);
  try {
    read_file(Gguf::parse(*bytes, bytes, "fuzz"));
  } catch (const UserError&) {
  }
  return 0;
}
