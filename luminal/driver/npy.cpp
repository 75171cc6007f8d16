#include "luminal/driver/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"

namespace luminal {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw UserError(fmt::format("'{}': {}", path, what));
}

// The text after `'key':` in the header's Python dict.
std::string_view field(const std::string& path, std::string_view header, std::string_view key) {
  size_t at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos) fail(path, fmt::format("its header has no '{}'", key));
  std::string_view rest = header.substr(at + key.size() + 3);
  return rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
}

DType npy_dtype(const std::string& path, std::string_view descr) {
  static constexpr struct {
    std::string_view descr;
    DType dtype;
  } kTypes[] = {{"'<f8'", DType::F64}, {"'<f4'", DType::F32}, {"'<f2'", DType::F16},
                {"'<i8'", DType::I64}, {"'<i4'", DType::I32}, {"'<i2'", DType::I16},
                {"'|i1'", DType::I8},  {"'|u1'", DType::U8},  {"'|b1'", DType::Bool}};
  for (const auto& type : kTypes) {
    if (descr.starts_with(type.descr)) return type.dtype;
  }
  fail(path, fmt::format("its dtype {} is not supported; save it as float32",
                         descr.substr(0, descr.find(','))));
}

// The digits and commas of (2, 3).
std::vector<int64_t> npy_dims(const std::string& path, std::string_view text) {
  std::vector<int64_t> dims;
  int64_t number = -1;  // none yet
  for (char c : text) {
    if (c == '-') fail(path, "a dim of its shape is negative");
    if (c >= '0' && c <= '9') {
      int64_t next = 0;
      if (__builtin_mul_overflow(std::max<int64_t>(number, 0), 10, &next) ||
          __builtin_add_overflow(next, c - '0', &next)) {
        fail(path, "a dim of its shape is too large");
      }
      number = next;
    } else {
      if (number >= 0) dims.push_back(number);
      number = -1;
      if (c == ')') return dims;
    }
  }
  fail(path, "the shape in its header has no end");
}

TensorData parse_npy(const std::string& path, const std::shared_ptr<base::MappedFile>& file) {
  std::span<const std::byte> bytes = file->bytes();
  if (bytes.size() < 12) fail(path, "it is too short for a .npy file");
  const auto* raw = reinterpret_cast<const uint8_t*>(bytes.data());
  if (raw[6] < 1 || raw[6] > 3) {
    fail(path, fmt::format("it is of version {} of the format; versions 1 to 3 are read", raw[6]));
  }
  const bool wide = raw[6] >= 2;  // version 2 and later have a 4-byte length
  const size_t start = wide ? 12 : 10;
  const size_t length = wide ? raw[8] | raw[9] << 8 | raw[10] << 16 | size_t{raw[11]} << 24
                             : size_t{raw[8]} | size_t{raw[9]} << 8;
  if (length > bytes.size() - start) fail(path, "its header is longer than the file");
  std::string_view header(reinterpret_cast<const char*>(bytes.data()) + start, length);
  if (!field(path, header, "fortran_order").starts_with("False")) {
    fail(path, "it is in Fortran order; save np.ascontiguousarray(x)");
  }
  TensorData data{.dtype = npy_dtype(path, field(path, header, "descr")),
                  .dims = npy_dims(path, field(path, header, "shape")),
                  .bytes = bytes.subspan(start + length),
                  .owner = file};
  return data;
}

bool is_npy(std::span<const std::byte> bytes) {
  return bytes.size() >= kNpyMagic.size() &&
         std::memcmp(bytes.data(), kNpyMagic.data(), kNpyMagic.size()) == 0;
}

void check_size(const std::string& path, const TensorData& data) {
  int64_t count = 1;
  for (int64_t dim : data.dims) {
    if (__builtin_mul_overflow(count, dim, &count)) fail(path, "its shape is too large");
  }
  const size_t most = data.bytes.size() * 8;  // no element has less than a bit
  if (static_cast<uint64_t>(count) > most) {
    fail(path,
         fmt::format("it ends before the elements of its shape [{}]", fmt::join(data.dims, ", ")));
  }
  const auto wanted = static_cast<size_t>(byte_size(data.dtype, count));
  if (data.bytes.size() == wanted) return;
  fail(path, fmt::format("it has {} bytes of elements, [{}] of {} takes {}", data.bytes.size(),
                         fmt::join(data.dims, ", "), name(data.dtype), wanted));
}

}  // namespace

TensorData read_npy(const std::string& path) {
  auto file = std::make_shared<base::MappedFile>(path);
  if (!is_npy(file->bytes())) fail(path, "it isn't a .npy file; write it with numpy.save");
  const TensorData data = parse_npy(path, file);
  check_size(path, data);
  const auto element = static_cast<size_t>(byte_size(data.dtype, 1));
  if (reinterpret_cast<uintptr_t>(data.bytes.data()) % element == 0) return data;
  return TensorData::copy_bytes(data.dtype, data.bytes, data.dims);
}

TensorData read_elements(const std::string& path, const TensorData& like) {
  auto file = std::make_shared<base::MappedFile>(path);
  std::span<const std::byte> bytes = file->bytes();
  TensorData data =
      is_npy(bytes)
          ? parse_npy(path, file)
          : TensorData{.dtype = like.dtype, .dims = like.dims, .bytes = bytes, .owner = file};
  if (data.dims != like.dims) {
    fail(path, fmt::format("it holds [{}], the tensor is [{}]", fmt::join(data.dims, ", "),
                           fmt::join(like.dims, ", ")));
  }
  check_size(path, data);
  return data;
}

}  // namespace luminal
