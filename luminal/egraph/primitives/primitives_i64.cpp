#include "luminal/egraph/primitives/primitives.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace luminal::egraph {
namespace {

using MaybeInt = std::optional<int64_t>;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// Division truncates towards zero, and the remainder has the sign of the dividend.
bool can_divide(int64_t a, int64_t b) { return b != 0 && !(a == kLeast && b == -1); }
bool can_shift(int64_t count) { return count >= 0 && count < 64; }

// An overflow has no result.
void add_arithmetic(PrimitiveAdder& to) {
  to.add<int64_t, int64_t>("+", [](int64_t a, int64_t b) -> MaybeInt {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? MaybeInt() : sum;
  });
  to.add<int64_t, int64_t>("-", [](int64_t a, int64_t b) -> MaybeInt {
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? MaybeInt() : difference;
  });
  to.add<int64_t, int64_t>("*", [](int64_t a, int64_t b) -> MaybeInt {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? MaybeInt() : product;
  });
  to.add<int64_t, int64_t>(
      "/", [](int64_t a, int64_t b) { return can_divide(a, b) ? MaybeInt(a / b) : MaybeInt(); });
  to.add<int64_t, int64_t>(
      "%", [](int64_t a, int64_t b) { return can_divide(a, b) ? MaybeInt(a % b) : MaybeInt(); });
  to.add<int64_t, int64_t>("min", [](int64_t a, int64_t b) { return std::min(a, b); });
  to.add<int64_t, int64_t>("max", [](int64_t a, int64_t b) { return std::max(a, b); });
  to.add<int64_t>("abs",
                  [](int64_t a) { return a == kLeast ? MaybeInt() : MaybeInt(a < 0 ? -a : a); });
  to.add<int64_t>("log2", [](int64_t a) {
    return a <= 0 ? MaybeInt() : MaybeInt(std::bit_width(static_cast<uint64_t>(a)) - 1);
  });
}

void add_bits(PrimitiveAdder& to) {
  to.add<int64_t, int64_t>("&", [](int64_t a, int64_t b) { return a & b; });
  to.add<int64_t, int64_t>("|", [](int64_t a, int64_t b) { return a | b; });
  to.add<int64_t, int64_t>("^", [](int64_t a, int64_t b) { return a ^ b; });
  to.add<int64_t>("not-i64", [](int64_t a) { return ~a; });
  to.add<int64_t, int64_t>("<<", [](int64_t a, int64_t b) {
    return can_shift(b) ? MaybeInt(static_cast<int64_t>(static_cast<uint64_t>(a) << b))
                        : MaybeInt();
  });
  to.add<int64_t, int64_t>(
      ">>", [](int64_t a, int64_t b) { return can_shift(b) ? MaybeInt(a >> b) : MaybeInt(); });
}

}  // namespace

void add_i64_primitives(PrimitiveAdder& to) {
  add_arithmetic(to);
  add_bits(to);
  to.add_test<int64_t, int64_t>("<", [](int64_t a, int64_t b) { return a < b; });
  to.add_test<int64_t, int64_t>(">", [](int64_t a, int64_t b) { return a > b; });
  to.add_test<int64_t, int64_t>("<=", [](int64_t a, int64_t b) { return a <= b; });
  to.add_test<int64_t, int64_t>(">=", [](int64_t a, int64_t b) { return a >= b; });
  to.add<int64_t, int64_t>("bool-=", [](int64_t a, int64_t b) { return a == b; });
  to.add<int64_t, int64_t>("bool-<", [](int64_t a, int64_t b) { return a < b; });
  to.add<int64_t, int64_t>("bool->", [](int64_t a, int64_t b) { return a > b; });
  to.add<int64_t, int64_t>("bool-<=", [](int64_t a, int64_t b) { return a <= b; });
  to.add<int64_t, int64_t>("bool->=", [](int64_t a, int64_t b) { return a >= b; });
  to.add<int64_t>("to-f64", [](int64_t a) { return static_cast<double>(a); });
  to.add<int64_t>("to-string", [](int64_t a) { return std::to_string(a); });
  to.add<int64_t>("bigint", [](int64_t a) { return BigInt(a); });
}

}  // namespace luminal::egraph
