#include "luminal/io/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"
#include "luminal/io/file/elements_in_file.h"
#include "luminal/io/file/quote.h"
#include "luminal/io/gguf/gguf_header.h"
#include "luminal/io/gguf_blocks.h"

namespace luminal {
namespace {

using io::quote;

[[noreturn]] void fail_gguf(std::string_view file, const std::string& message) {
  throw UserError(fmt::format("gguf: {}: {}", quote(file), message));
}

// What `convert` makes of a value that may be absent but must not be of another kind.
template <typename To>
std::optional<To> find_as(const Gguf& file, std::string_view key, std::string_view wanted,
                          std::optional<To> (GgufValue::*convert)() const) {
  const GgufValue* value = file.value(key);
  if (!value) return std::nullopt;
  std::optional<To> converted = (value->*convert)();
  if (converted) return converted;
  std::string found(name(value->kind));
  if (value->kind == GgufKind::Array) found += fmt::format(" of {}", name(value->element));
  fail_gguf(file.name(),
            fmt::format("metadata {} has type {}, but {} is expected", quote(key), found, wanted));
}

// The same for a list; a value alone is a list of one.
template <typename To, typename One>
std::optional<std::vector<To>> find_list(const Gguf& file, std::string_view key,
                                         std::string_view wanted,
                                         std::optional<std::vector<One>> (GgufValue::*convert)()
                                             const,
                                         std::optional<One> (GgufValue::*convert_one)() const) {
  const GgufValue* value = file.value(key);
  if (value && value->kind != GgufKind::Array) {
    if (const std::optional<One> one = (value->*convert_one)()) return std::vector{To(*one)};
  }
  const auto list = find_as(file, key, wanted, convert);
  if (!list) return std::nullopt;
  return std::vector<To>(list->begin(), list->end());
}

}  // namespace

struct Gguf::Contents {
  std::string name;
  uint32_t version = 0;
  int64_t alignment = 0;
  std::vector<GgufEntry> metadata;                // sorted by key
  std::vector<TensorInfo> tensors;                // sorted by name
  std::vector<std::span<const std::byte>> bytes;  // of each tensor
  std::shared_ptr<const void> owner;
};

Gguf::Gguf(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

Gguf Gguf::parse(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                 std::string name) {
  io::GgufHeader header = io::parse_gguf_header(bytes, name);
  auto contents = std::make_shared<Contents>();
  contents->name = std::move(name);
  contents->version = header.version;
  contents->alignment = header.alignment;
  contents->metadata = std::move(header.metadata);
  contents->owner = std::move(owner);
  contents->tensors.reserve(header.tensors.size());
  contents->bytes.reserve(header.tensors.size());
  for (io::GgufTensor& tensor : header.tensors) {
    const auto size = static_cast<size_t>(tensor.info.n_bytes);
    contents->bytes.push_back(bytes.subspan(tensor.begin, size));
    contents->tensors.push_back(std::move(tensor.info));
  }
  return Gguf(std::move(contents));
}

Gguf Gguf::open(const std::string& path) {
  auto file = std::make_shared<const base::MappedFile>(path);
  return parse(file->bytes(), file, path);
}

const std::vector<GgufEntry>& Gguf::metadata() const { return contents_->metadata; }
const std::vector<TensorInfo>& Gguf::tensors() const { return contents_->tensors; }
const std::shared_ptr<const void>& Gguf::owner() const { return contents_->owner; }
uint32_t Gguf::version() const { return contents_->version; }
int64_t Gguf::alignment() const { return contents_->alignment; }
const std::string& Gguf::name() const { return contents_->name; }

const GgufValue* Gguf::value(std::string_view key) const {
  const auto& entries = contents_->metadata;
  auto found = std::lower_bound(
      entries.begin(), entries.end(), key,
      [](const GgufEntry& entry, std::string_view wanted) { return entry.key < wanted; });
  return found != entries.end() && found->key == key ? &found->value : nullptr;
}

std::optional<int64_t> Gguf::find_int(std::string_view key) const {
  return find_as(*this, key, "an integer", &GgufValue::to_int);
}
std::optional<double> Gguf::find_real(std::string_view key) const {
  return find_as(*this, key, "a number", &GgufValue::to_real);
}
std::optional<bool> Gguf::find_bool(std::string_view key) const {
  return find_as(*this, key, "a bool", &GgufValue::to_bool);
}
std::optional<std::string> Gguf::find_text(std::string_view key) const {
  const auto text = find_as(*this, key, "a string", &GgufValue::to_text);
  return text ? std::optional<std::string>(*text) : std::nullopt;
}
std::optional<std::vector<int64_t>> Gguf::find_ints(std::string_view key) const {
  return find_list<int64_t>(*this, key, "an array of integers", &GgufValue::to_ints,
                            &GgufValue::to_int);
}
std::optional<std::vector<double>> Gguf::find_reals(std::string_view key) const {
  return find_list<double>(*this, key, "an array of numbers", &GgufValue::to_reals,
                           &GgufValue::to_real);
}
std::optional<std::vector<std::string>> Gguf::find_texts(std::string_view key) const {
  return find_list<std::string>(*this, key, "an array of strings", &GgufValue::to_texts,
                                &GgufValue::to_text);
}

std::string Gguf::lacks(std::string_view key) const {
  return fmt::format("gguf: {}: lacks the metadata {}", quote(name()), quote(key));
}

const TensorInfo& Gguf::tensor_at(std::string_view name) const {
  if (const TensorInfo* info = find(name)) return *info;
  fail_gguf(contents_->name, fmt::format("there is no tensor {}; tensors() lists the {} there are",
                                         quote(name), contents_->tensors.size()));
}

std::span<const std::byte> Gguf::bytes(std::string_view name) const {
  return contents_->bytes[static_cast<size_t>(&tensor_at(name) - contents_->tensors.data())];
}

TensorData Gguf::data(std::string_view name) const {
  const TensorInfo& info = tensor_at(name);
  if (!info.dtype) {
    fail_gguf(
        contents_->name,
        fmt::format(
            "tensor {} is {}, which is quantised in blocks; read its planes instead of elements",
            quote(name), info.file_dtype));
  }
  return io::elements_in_file(*info.dtype, info.dims, bytes(name), contents_->owner);
}

TensorData Gguf::plane(std::string_view name, Plane plane) const {
  return read_plane(*this, name, plane);
}

bool is_gguf(const std::string& path) {
  char start[4] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof(start));
  return std::string_view(start, sizeof(start)) == "GGUF";
}

}  // namespace luminal
