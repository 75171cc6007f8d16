#include "luminal/egraph/primitives/primitives.h"

#include <algorithm>

namespace luminal::egraph {
namespace {

using MaybeBig = std::optional<BigInt>;

// A product or shift with more bits has no result, so that a few calls can't exhaust the machine.
constexpr uint64_t kMostBits = 1 << 17;

bool can_shift_left(const BigInt& number, int64_t count) {
  return count >= 0 && number.bits() + static_cast<uint64_t>(count) <= kMostBits;
}

}  // namespace

void add_bigint_primitives(PrimitiveAdder& to) {
  using B = BigInt;
  to.add<B, B>("+", [](const B& a, const B& b) { return a + b; });
  to.add<B, B>("-", [](const B& a, const B& b) { return a - b; });
  to.add<B, B>("*", [](const B& a, const B& b) {
    return a.bits() + b.bits() <= kMostBits ? MaybeBig(a * b) : MaybeBig();
  });
  to.add<B, B>("/",
               [](const B& a, const B& b) { return b.is_zero() ? MaybeBig() : MaybeBig(a / b); });
  to.add<B, B>("%",
               [](const B& a, const B& b) { return b.is_zero() ? MaybeBig() : MaybeBig(a % b); });
  to.add<B, B>("&", [](const B& a, const B& b) { return a & b; });
  to.add<B, B>("|", [](const B& a, const B& b) { return a | b; });
  to.add<B, B>("^", [](const B& a, const B& b) { return a ^ b; });
  to.add<B>("not-Z", [](const B& a) { return ~a; });
  to.add<B, int64_t>("<<", [](const B& a, int64_t count) {
    return can_shift_left(a, count) ? MaybeBig(a << static_cast<uint64_t>(count)) : MaybeBig();
  });
  to.add<B, int64_t>(">>", [](const B& a, int64_t count) {
    return count >= 0 ? MaybeBig(a >> static_cast<uint64_t>(count)) : MaybeBig();
  });
  to.add<B>("bits", [](const B& a) { return B(static_cast<int64_t>(a.bits())); });
  to.add<B, B>("min", [](const B& a, const B& b) { return std::min(a, b); });
  to.add<B, B>("max", [](const B& a, const B& b) { return std::max(a, b); });
  to.add_test<B, B>("<", [](const B& a, const B& b) { return a < b; });
  to.add_test<B, B>(">", [](const B& a, const B& b) { return a > b; });
  to.add_test<B, B>("<=", [](const B& a, const B& b) { return a <= b; });
  to.add_test<B, B>(">=", [](const B& a, const B& b) { return a >= b; });
  to.add<B, B>("bool-=", [](const B& a, const B& b) { return a == b; });
  to.add<B, B>("bool-<", [](const B& a, const B& b) { return a < b; });
  to.add<B, B>("bool->", [](const B& a, const B& b) { return a > b; });
  to.add<B, B>("bool-<=", [](const B& a, const B& b) { return a <= b; });
  to.add<B, B>("bool->=", [](const B& a, const B& b) { return a >= b; });
  to.add<B>("to-string", [](const B& a) { return a.to_string(); });
}

}  // namespace luminal::egraph
