#include "luminal/shape/dtype.h"

#include <algorithm>
#include <array>
#include <ostream>

#include "luminal/base/check.h"
#include "luminal/base/errors.h"

namespace luminal {
namespace {

struct Row {
  DType dtype;
  std::string_view text;
  int bits;
  DTypeKind kind;
};

constexpr Row kRows[] = {
#define DTYPE(name, text, bits, kind, storage) {DType::name, text, bits, DTypeKind::kind},
#include "luminal/shape/dtypes.def"
#undef DTYPE
};

constexpr auto kAll = [] {
  std::array<DType, std::size(kRows)> all{};
  for (size_t i = 0; i < all.size(); ++i) all[i] = kRows[i].dtype;
  return all;
}();

const Row& row(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

DType promote_floats(DType a, DType b) {
  if (a == b) return a;
  if (a == DType::F64 || b == DType::F64) return DType::F64;
  return DType::F32;  // f32 with a 16-bit one, or f16 with bf16
}

DType promote_ints(DType a, DType b) {
  if (a == b) return a;
  if (bits(a) < bits(b)) std::swap(a, b);
  // u8 and i8: the smallest type that holds both.
  if (bits(a) == bits(b)) return DType::I16;
  return a;
}

}  // namespace

std::span<const DType> all_dtypes() { return kAll; }
std::string_view name(DType dtype) { return row(dtype).text; }
std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }
DTypeKind kind(DType dtype) { return row(dtype).kind; }
int bits(DType dtype) { return row(dtype).bits; }

std::optional<DType> dtype_from_name(std::string_view text) {
  for (const Row& r : kRows) {
    if (r.text == text) return r.dtype;
  }
  return std::nullopt;
}

int64_t byte_size(DType dtype, int64_t count) {
  int64_t total_bits = 0;
  LUMINAL_CHECK(count >= 0 && !__builtin_mul_overflow(count, bits(dtype), &total_bits),
                "the size of a tensor leaves 64 bits");
  return total_bits / 8 + (total_bits % 8 != 0);
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (kind(a) == DTypeKind::Packed || kind(b) == DTypeKind::Packed) {
    throw UserError("u4 is a storage type: cast it before computing with it");
  }
  if (is_float(a) && is_float(b)) return promote_floats(a, b);
  if (is_float(a) || is_float(b)) return is_float(a) ? a : b;
  if (a == DType::Bool) return b;
  if (b == DType::Bool) return a;
  return promote_ints(a, b);
}

}  // namespace luminal
