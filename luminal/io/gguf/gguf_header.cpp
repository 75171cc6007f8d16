#include "luminal/io/gguf/gguf_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/io/file/quote.h"
#include "luminal/io/gguf/gguf_types.h"
#include "luminal/io/gguf_blocks.h"

namespace luminal::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian here");

constexpr std::string_view kMagic = "GGUF";
constexpr uint32_t kMaxDims = 4;
constexpr int kMaxArrayDepth = 4;
constexpr uint32_t kDefaultAlignment = 32;
constexpr std::string_view kAlignmentKey = "general.alignment";
// The fewest bytes that an item takes in a file: counts are checked against what is left of it.
constexpr size_t kLeastText = 8;
constexpr size_t kLeastArray = 12;
constexpr size_t kLeastEntry = 13;   // an empty key, a kind, a byte
constexpr size_t kLeastTensor = 24;  // an empty name, no dims, a type, an offset

// Bytes of a kind that has a fixed size, else 0.
size_t fixed_size(GgufKind kind) {
  switch (kind) {
    case GgufKind::U8:
    case GgufKind::I8:
    case GgufKind::Bool:
      return 1;
    case GgufKind::U16:
    case GgufKind::I16:
      return 2;
    case GgufKind::U32:
    case GgufKind::I32:
    case GgufKind::F32:
      return 4;
    case GgufKind::U64:
    case GgufKind::I64:
    case GgufKind::F64:
      return 8;
    case GgufKind::String:
    case GgufKind::Array:
      return 0;
  }
  return 0;
}

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  GgufHeader read() {
    read_start();
    const uint64_t n_tensors = number<uint64_t>();
    const uint64_t n_entries = number<uint64_t>();
    read_metadata(n_entries);
    read_alignment();
    read_tensors(n_tensors);
    place_tensors();
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw UserError(fmt::format("gguf: {}: {}", quote(file_), message));
  }

  size_t left() const { return bytes_.size() - position_; }

  std::span<const std::byte> take(size_t size) {
    if (size > left()) {
      fail(
          fmt::format("{} takes {} bytes at byte {}, where {} are left; the file is cut short or "
                      "damaged",
                      place_, size, position_, left()));
    }
    std::span<const std::byte> taken = bytes_.subspan(position_, size);
    position_ += size;
    return taken;
  }

  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  // A count of items that take at least `least` bytes each.
  size_t count(uint64_t claimed, size_t least) const {
    if (claimed > left() / least) {
      fail(
          fmt::format("{} claims {} items, more than fit the {} bytes left; the file is cut short "
                      "or damaged",
                      place_, claimed, left()));
    }
    return static_cast<size_t>(claimed);
  }

  std::string_view text() {
    const size_t size = count(number<uint64_t>(), 1);
    const std::span<const std::byte> taken = take(size);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  // A key or name: non-empty UTF-8, so that it can be shown and asked for.
  std::string_view identifier() {
    const std::string_view found = text();
    if (found.empty()) fail(fmt::format("{} is empty", place_));
    if (!is_utf8(found)) fail(fmt::format("{} isn't UTF-8", place_));
    return found;
  }

  void read_start() {
    place_ = "the start of the file";
    const std::span<const std::byte> magic = take(kMagic.size());
    if (std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
      fail("doesn't start with 'GGUF'; it isn't a GGUF file");
    }
    header_.version = number<uint32_t>();
    if (header_.version == 2 || header_.version == 3) return;
    if (header_.version == 0x02000000 || header_.version == 0x03000000) {
      fail("is big-endian, which isn't supported; convert it with another tool");
    }
    fail(fmt::format("has version {}; 2 and 3 are supported", header_.version));
  }

  GgufKind kind() {
    const auto value = number<uint32_t>();
    if (value > static_cast<uint32_t>(GgufKind::F64)) {
      fail(fmt::format("{} has type {}, which GGUF doesn't define", place_, value));
    }
    return static_cast<GgufKind>(value);
  }

  void check_bools(std::span<const std::byte> values) const {
    for (std::byte value : values) {
      if (value <= std::byte{1}) continue;
      fail(fmt::format("{} is a bool but holds {}; only 0 and 1 are bools", place_,
                       std::to_integer<int>(value)));
    }
  }

  GgufValue value(GgufKind of, int depth) {
    GgufValue result{.kind = of, .bytes = {}, .texts = {}, .arrays = {}};
    if (of == GgufKind::String) {
      result.texts.push_back(text());
    } else if (of == GgufKind::Array) {
      read_array(result, depth + 1);
    } else {
      result.bytes = take(fixed_size(of));
      if (of == GgufKind::Bool) check_bools(result.bytes);
    }
    return result;
  }

  void read_array(GgufValue& array, int depth) {
    if (depth > kMaxArrayDepth) {
      fail(fmt::format("{} is nested deeper than {}", place_, kMaxArrayDepth));
    }
    array.element = kind();
    const uint64_t claimed = number<uint64_t>();
    if (array.element == GgufKind::String) {
      const size_t size = count(claimed, kLeastText);
      array.texts.reserve(size);
      for (size_t i = 0; i < size; ++i) array.texts.push_back(text());
    } else if (array.element == GgufKind::Array) {
      const size_t size = count(claimed, kLeastArray);
      for (size_t i = 0; i < size; ++i) array.arrays.push_back(value(GgufKind::Array, depth));
    } else {
      const size_t size = count(claimed, fixed_size(array.element));
      array.bytes = take(size * fixed_size(array.element));
      if (array.element == GgufKind::Bool) check_bools(array.bytes);
    }
  }

  void read_metadata(uint64_t claimed) {
    place_ = "the metadata";
    const size_t size = count(claimed, kLeastEntry);
    for (size_t i = 0; i < size; ++i) {
      place_ = fmt::format("the key of metadata entry {}", i);
      const std::string_view key = identifier();
      place_ = fmt::format("metadata {}", quote(key));
      header_.metadata.push_back({.key = key, .value = value(kind(), 0)});
    }
    std::vector<GgufEntry>& entries = header_.metadata;
    std::sort(entries.begin(), entries.end(),
              [](const GgufEntry& a, const GgufEntry& b) { return a.key < b.key; });
    auto twice =
        std::adjacent_find(entries.begin(), entries.end(),
                           [](const GgufEntry& a, const GgufEntry& b) { return a.key == b.key; });
    if (twice != entries.end()) fail(fmt::format("has metadata {} twice", quote(twice->key)));
  }

  void read_alignment() {
    header_.alignment = kDefaultAlignment;
    for (const GgufEntry& entry : header_.metadata) {
      if (entry.key != kAlignmentKey) continue;
      const std::optional<int64_t> found = entry.value.to_int();
      const bool good = entry.value.kind == GgufKind::U32 && found >= 8 &&
                        std::has_single_bit(static_cast<uint64_t>(*found));
      if (!good) {
        fail(fmt::format("metadata {} must be a power of two of type u32, at least 8",
                         quote(kAlignmentKey)));
      }
      header_.alignment = *found;
    }
  }

  void read_tensors(uint64_t claimed) {
    place_ = "the list of tensors";
    const size_t size = count(claimed, kLeastTensor);
    for (size_t i = 0; i < size; ++i) {
      place_ = fmt::format("the name of tensor {}", i);
      GgufTensor tensor;
      tensor.info.name = identifier();
      place_ = fmt::format("tensor {}", quote(tensor.info.name));
      read_tensor(tensor);
      header_.tensors.push_back(std::move(tensor));
    }
  }

  void read_tensor(GgufTensor& tensor) {
    TensorInfo& info = tensor.info;
    const auto rank = number<uint32_t>();
    if (rank > kMaxDims)
      fail(fmt::format("{} has {} dims; at most {} are supported", place_, rank, kMaxDims));
    for (uint32_t i = 0; i < rank; ++i) {
      const auto dim = number<uint64_t>();
      if (dim > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        fail(fmt::format("{} has the dim {}, which is too large", place_, dim));
      }
      info.dims.push_back(static_cast<int64_t>(dim));
    }
    std::reverse(info.dims.begin(), info.dims.end());  // the file has the innermost first
    const auto type_number = number<uint32_t>();
    const GgufType* type = find_gguf_type(type_number);
    if (!type) {
      fail(fmt::format("{} has type {}, which is unknown; convert it with another tool", place_,
                       type_number));
    }
    info.file_dtype = type->text;
    info.dtype = type->dtype;
    info.blocks = block_format(type->text);
    info.n_bytes = checked_bytes(info.dims, *type);
    const auto offset = number<uint64_t>();
    if (offset % static_cast<uint64_t>(header_.alignment) != 0) {
      fail(fmt::format("{} has the offset {}, which isn't a multiple of the alignment {}", place_,
                       offset, header_.alignment));
    }
    if (offset > bytes_.size()) {
      fail(fmt::format("{} has the offset {}, past the end of the file of {} bytes", place_, offset,
                       bytes_.size()));
    }
    tensor.begin = static_cast<size_t>(offset);
  }

  int64_t checked_bytes(const std::vector<int64_t>& dims, const GgufType& type) const {
    const int64_t innermost = dims.empty() ? 1 : dims.back();
    if (innermost % type.block_elements != 0) {
      fail(fmt::format("{} is {} [{}], whose blocks of {} don't divide its innermost dim", place_,
                       type.text, fmt::join(dims, ", "), type.block_elements));
    }
    int64_t elements = 1;
    int64_t total = 0;
    bool fits = true;
    for (int64_t dim : dims) fits = fits && !__builtin_mul_overflow(elements, dim, &elements);
    fits =
        fits && !__builtin_mul_overflow(elements / type.block_elements, type.block_bytes, &total);
    if (!fits) {
      fail(fmt::format("{} is {} [{}], whose size is not a whole number of bytes or overflows",
                       place_, type.text, fmt::join(dims, ", ")));
    }
    return total;
  }

  // Offsets count from the first multiple of the alignment after the list of tensors.
  void place_tensors() {
    std::vector<GgufTensor>& tensors = header_.tensors;
    if (tensors.empty()) return;
    const auto alignment = static_cast<size_t>(header_.alignment);
    const size_t padding = (alignment - position_ % alignment) % alignment;
    place_ = "the padding before the data";
    take(padding);
    const size_t data_size = left();
    for (GgufTensor& tensor : tensors) {
      const auto size = static_cast<uint64_t>(tensor.info.n_bytes);
      if (tensor.begin > data_size || size > data_size - tensor.begin) {
        fail(
            fmt::format("tensor {} has {} bytes at byte {} of the data, which has {}; the file is "
                        "cut short or damaged",
                        quote(tensor.info.name), size, tensor.begin, data_size));
      }
      tensor.begin += position_;
    }
    check_overlaps();
    std::sort(tensors.begin(), tensors.end(),
              [](const GgufTensor& a, const GgufTensor& b) { return a.info.name < b.info.name; });
    auto twice = std::adjacent_find(
        tensors.begin(), tensors.end(),
        [](const GgufTensor& a, const GgufTensor& b) { return a.info.name == b.info.name; });
    if (twice != tensors.end()) fail(fmt::format("has tensor {} twice", quote(twice->info.name)));
  }

  void check_overlaps() {
    std::vector<GgufTensor>& tensors = header_.tensors;
    std::sort(tensors.begin(), tensors.end(), [](const GgufTensor& a, const GgufTensor& b) {
      return std::pair(a.begin, a.info.n_bytes) < std::pair(b.begin, b.info.n_bytes);
    });
    for (size_t i = 1; i < tensors.size(); ++i) {
      const GgufTensor& before = tensors[i - 1];
      if (before.begin + static_cast<size_t>(before.info.n_bytes) <= tensors[i].begin) continue;
      fail(fmt::format("tensors {} and {} overlap at byte {}", quote(before.info.name),
                       quote(tensors[i].info.name), tensors[i].begin));
    }
  }

  std::span<const std::byte> bytes_;
  const std::string& file_;
  size_t position_ = 0;
  std::string place_;  // what is being read, for messages
  GgufHeader header_;
};

}  // namespace

GgufHeader parse_gguf_header(std::span<const std::byte> bytes, const std::string& file) {
  return Reader(bytes, file).read();
}

}  // namespace luminal::io
