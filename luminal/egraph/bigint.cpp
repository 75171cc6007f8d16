#include "luminal/egraph/bigint.h"

#include "luminal/base/check.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace luminal::egraph {
namespace {

using Limbs = std::vector<uint32_t>;

void drop_zeros(Limbs& limbs) {
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
}

std::strong_ordering compare(const Limbs& a, const Limbs& b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return std::lexicographical_compare_three_way(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

Limbs add(const Limbs& a, const Limbs& b) {
  Limbs sum;
  uint64_t carry = 0;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    carry += (i < a.size() ? a[i] : 0ull) + (i < b.size() ? b[i] : 0ull);
    sum.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  if (carry != 0) sum.push_back(static_cast<uint32_t>(carry));
  return sum;
}

// Requires a >= b.
Limbs subtract(const Limbs& a, const Limbs& b) {
  Limbs difference;
  int64_t borrow = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    borrow += int64_t{a[i]} - (i < b.size() ? int64_t{b[i]} : 0);
    difference.push_back(static_cast<uint32_t>(borrow));
    borrow >>= 32;
  }
  drop_zeros(difference);
  return difference;
}

Limbs multiply(const Limbs& a, const Limbs& b) {
  Limbs product(a.size() + b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    uint64_t carry = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      carry += uint64_t{a[i]} * b[j] + product[i + j];
      product[i + j] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    product[i + b.size()] = static_cast<uint32_t>(carry);
  }
  drop_zeros(product);
  return product;
}

// limbs · factor + term, in place.
void multiply_add(Limbs& limbs, uint32_t factor, uint32_t term) {
  uint64_t carry = term;
  for (uint32_t& limb : limbs) {
    carry += uint64_t{limb} * factor;
    limb = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  if (carry != 0) limbs.push_back(static_cast<uint32_t>(carry));
}

Limbs shift_left(const Limbs& limbs, uint64_t count) {
  if (limbs.empty()) return {};
  const unsigned bits = count % 32;
  Limbs result(count / 32);
  uint64_t carry = 0;
  for (uint32_t limb : limbs) {
    carry |= uint64_t{limb} << bits;
    result.push_back(static_cast<uint32_t>(carry));
    carry >>= 32;
  }
  result.push_back(static_cast<uint32_t>(carry));
  drop_zeros(result);
  return result;
}

Limbs shift_right(const Limbs& limbs, uint64_t count) {
  if (count / 32 >= limbs.size()) return {};
  const unsigned bits = count % 32;
  Limbs result;
  for (size_t i = count / 32; i < limbs.size(); ++i) {
    const uint64_t above = i + 1 < limbs.size() ? limbs[i + 1] : 0;
    result.push_back(static_cast<uint32_t>((above << 32 | limbs[i]) >> bits));
  }
  drop_zeros(result);
  return result;
}

// Divides in place and returns the remainder.
uint32_t divide_small(Limbs& limbs, uint32_t divisor) {
  uint64_t rest = 0;
  for (size_t i = limbs.size(); i-- > 0;) {
    rest = rest << 32 | limbs[i];
    limbs[i] = static_cast<uint32_t>(rest / divisor);
    rest %= divisor;
  }
  drop_zeros(limbs);
  return static_cast<uint32_t>(rest);
}

// Subtracts digit · divisor from the limbs at `at`; returns whether that underflowed.
bool take_multiple(Limbs& rest, size_t at, const Limbs& divisor, uint64_t digit) {
  uint64_t carry = 0;
  int64_t borrow = 0;
  for (size_t i = 0; i < divisor.size(); ++i) {
    carry += digit * divisor[i];
    borrow += int64_t{rest[at + i]} - static_cast<int64_t>(carry & 0xffffffffu);
    rest[at + i] = static_cast<uint32_t>(borrow);
    carry >>= 32;
    borrow >>= 32;
  }
  borrow += int64_t{rest[at + divisor.size()]} - static_cast<int64_t>(carry);
  rest[at + divisor.size()] = static_cast<uint32_t>(borrow);
  return borrow < 0;
}

void give_back(Limbs& rest, size_t at, const Limbs& divisor) {
  uint64_t carry = 0;
  for (size_t i = 0; i < divisor.size(); ++i) {
    carry += uint64_t{rest[at + i]} + divisor[i];
    rest[at + i] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  rest[at + divisor.size()] += static_cast<uint32_t>(carry);
}

// Knuth's algorithm D: with the divisor's top bit set, the digit estimated from the top limbs is at
// most two too large.
std::pair<Limbs, Limbs> divide_long(const Limbs& a, const Limbs& b) {
  const unsigned shift = static_cast<unsigned>(std::countl_zero(b.back()));
  const Limbs divisor = shift_left(b, shift);
  Limbs rest = shift_left(a, shift);
  rest.resize(a.size() + 1);
  const size_t size = divisor.size();
  Limbs quotient(rest.size() - size);
  for (size_t at = quotient.size(); at-- > 0;) {
    const uint64_t top = uint64_t{rest[at + size]} << 32 | rest[at + size - 1];
    uint64_t digit = std::min<uint64_t>(top / divisor.back(), 0xffffffffu);
    uint64_t left = top - digit * divisor.back();
    while (left <= 0xffffffffu && digit * divisor[size - 2] > (left << 32 | rest[at + size - 2])) {
      --digit;
      left += divisor.back();
    }
    if (take_multiple(rest, at, divisor, digit)) {
      --digit;
      give_back(rest, at, divisor);
    }
    quotient[at] = static_cast<uint32_t>(digit);
  }
  drop_zeros(quotient);
  drop_zeros(rest);
  return {std::move(quotient), shift_right(rest, shift)};
}

}  // namespace

BigInt::BigInt(int64_t value) : negative_(value < 0) {
  uint64_t magnitude = static_cast<uint64_t>(value);
  if (negative_) magnitude = 0 - magnitude;
  for (; magnitude != 0; magnitude >>= 32) limbs_.push_back(static_cast<uint32_t>(magnitude));
}

BigInt::BigInt(bool negative, Limbs limbs) : limbs_(std::move(limbs)) {
  drop_zeros(limbs_);
  negative_ = negative && !limbs_.empty();
}

std::optional<BigInt> BigInt::from_string(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.starts_with('_')) return std::nullopt;
  Limbs limbs;
  uint32_t digits = 0, scale = 1;  // up to nine digits that aren't in `limbs` yet
  for (const char c : text) {
    if (c == '_') continue;
    if (c < '0' || c > '9') return std::nullopt;
    digits = digits * 10 + static_cast<uint32_t>(c - '0');
    scale *= 10;
    if (scale < 1'000'000'000) continue;
    multiply_add(limbs, scale, digits);
    digits = 0;
    scale = 1;
  }
  multiply_add(limbs, scale, digits);
  return BigInt(negative, std::move(limbs));
}

std::string BigInt::to_string() const {
  if (is_zero()) return "0";
  std::string digits;  // least significant first
  Limbs left = limbs_;
  while (!left.empty()) {
    uint32_t nine = divide_small(left, 1'000'000'000);
    for (int i = 0; i < 9 && (nine != 0 || !left.empty()); ++i, nine /= 10) {
      digits += static_cast<char>('0' + nine % 10);
    }
  }
  if (negative_) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

uint64_t BigInt::bits() const {
  if (is_zero()) return 0;
  return 32 * uint64_t{limbs_.size()} - static_cast<uint64_t>(std::countl_zero(limbs_.back()));
}

std::string BigInt::key() const {
  std::string bytes(1, negative_ ? '-' : '+');
  for (uint32_t limb : limbs_) {
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(limb >> 8 * i & 0xff);
  }
  return bytes;
}

BigInt BigInt::operator-() const { return {!negative_, limbs_}; }

BigInt operator+(const BigInt& a, const BigInt& b) {
  if (a.negative_ == b.negative_) return {a.negative_, add(a.limbs_, b.limbs_)};
  if (compare(a.limbs_, b.limbs_) < 0) return {b.negative_, subtract(b.limbs_, a.limbs_)};
  return {a.negative_, subtract(a.limbs_, b.limbs_)};
}

BigInt operator-(const BigInt& a, const BigInt& b) { return a + -b; }

BigInt operator*(const BigInt& a, const BigInt& b) {
  return {a.negative_ != b.negative_, multiply(a.limbs_, b.limbs_)};
}

std::pair<BigInt, BigInt> BigInt::divide(const BigInt& a, const BigInt& b) {
  LUMINAL_CHECK(!b.is_zero(), "division by zero");
  if (compare(a.limbs_, b.limbs_) < 0) return {BigInt(), a};
  const bool negative = a.negative_ != b.negative_;
  if (b.limbs_.size() == 1) {
    Limbs quotient = a.limbs_;
    Limbs rest{divide_small(quotient, b.limbs_[0])};
    return {BigInt(negative, std::move(quotient)), BigInt(a.negative_, std::move(rest))};
  }
  auto [quotient, rest] = divide_long(a.limbs_, b.limbs_);
  return {BigInt(negative, std::move(quotient)), BigInt(a.negative_, std::move(rest))};
}

BigInt operator/(const BigInt& a, const BigInt& b) { return BigInt::divide(a, b).first; }
BigInt operator%(const BigInt& a, const BigInt& b) { return BigInt::divide(a, b).second; }

BigInt::Limbs BigInt::two_complement(size_t size) const {
  Limbs result = limbs_;
  result.resize(size);
  if (!negative_) return result;
  uint64_t carry = 1;
  for (uint32_t& limb : result) {
    carry += static_cast<uint32_t>(~limb);
    limb = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  return result;
}

BigInt BigInt::from_two_complement(Limbs limbs) {
  if (limbs.empty() || limbs.back() >> 31 == 0) return {false, std::move(limbs)};
  const size_t size = limbs.size();
  drop_zeros(limbs);
  BigInt magnitude(true, std::move(limbs));
  return {true, magnitude.two_complement(size)};
}

template <typename F>
BigInt BigInt::bitwise(const BigInt& a, const BigInt& b, F f) {
  const size_t size = std::max(a.limbs_.size(), b.limbs_.size()) + 1;  // one more for the sign
  Limbs result = a.two_complement(size);
  const Limbs other = b.two_complement(size);
  for (size_t i = 0; i < size; ++i) result[i] = f(result[i], other[i]);
  return from_two_complement(std::move(result));
}

BigInt operator&(const BigInt& a, const BigInt& b) {
  return BigInt::bitwise(a, b, [](uint32_t x, uint32_t y) { return x & y; });
}
BigInt operator|(const BigInt& a, const BigInt& b) {
  return BigInt::bitwise(a, b, [](uint32_t x, uint32_t y) { return x | y; });
}
BigInt operator^(const BigInt& a, const BigInt& b) {
  return BigInt::bitwise(a, b, [](uint32_t x, uint32_t y) { return x ^ y; });
}

BigInt BigInt::operator~() const { return -*this - BigInt(1); }

BigInt BigInt::operator<<(uint64_t count) const { return {negative_, shift_left(limbs_, count)}; }

BigInt BigInt::operator>>(uint64_t count) const {
  if (!negative_) return {false, shift_right(limbs_, count)};
  return ~BigInt(false, shift_right((~*this).limbs_, count));
}

std::strong_ordering operator<=>(const BigInt& a, const BigInt& b) {
  if (a.negative_ != b.negative_) return b.negative_ <=> a.negative_;
  return a.negative_ ? compare(b.limbs_, a.limbs_) : compare(a.limbs_, b.limbs_);
}

}  // namespace luminal::egraph
