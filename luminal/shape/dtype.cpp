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
  bool is_unsigned;
};

constexpr Row kRows[] = {
#define DTYPE(name, text, bits, kind, exponent_bits, storage) \
  {DType::name, text, bits, DTypeKind::kind,                  \
   DTypeKind::kind != DTypeKind::Float && std::is_unsigned_v<storage>},
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

// The wider one; with and without a sign the narrowest signed type that holds both: u8 and i8 give
// i16.
DType promote_ints(DType a, DType b) {
  if (is_unsigned(a) == is_unsigned(b)) return bits(a) < bits(b) ? b : a;
  const int needed = std::max(bits(a) + is_unsigned(a), bits(b) + is_unsigned(b));
  DType result = DType::I64;
  for (DType dtype : kAll) {
    const bool holds = is_int(dtype) && !is_unsigned(dtype) && bits(dtype) >= needed;
    if (holds && bits(dtype) < bits(result)) result = dtype;
  }
  return result;
}

}  // namespace

std::span<const DType> all_dtypes() { return kAll; }
std::string_view name(DType dtype) { return row(dtype).text; }
std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }
DTypeKind kind(DType dtype) { return row(dtype).kind; }
int bits(DType dtype) { return row(dtype).bits; }
bool is_unsigned(DType dtype) { return row(dtype).is_unsigned; }

std::optional<DType> dtype_from_name(std::string_view text) {
  for (const Row& r : kRows) {
    if (r.text == text) return r.dtype;
  }
  return std::nullopt;
}

int64_t byte_size(DType dtype, int64_t count) {
  int64_t total_bits = 0;
  LUMINAL_CHECK(count >= 0 && !__builtin_mul_overflow(count, bits(dtype), &total_bits),
                "the size of a tensor overflows 64 bits");
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
