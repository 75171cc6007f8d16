// BigInt: arbitrary-precision integers, the values of the language's sort BigInt.
#pragma once

#include "luminal/base/visibility.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace luminal::egraph {

// Sign and magnitude. Division truncates towards zero and the remainder has the sign of the
// dividend; bitwise operations and shifts act on infinite two's complement.
class LUMINAL_API BigInt {
 public:
  BigInt(int64_t value = 0);
  // Digits after an optional sign; `_` between digits is skipped. Nothing if the text is no number.
  static std::optional<BigInt> from_string(std::string_view text);

  std::string to_string() const;
  bool is_zero() const { return limbs_.empty(); }
  bool is_negative() const { return negative_; }
  // Bits of the magnitude: 0 for 0, 3 for 7 and for -7.
  uint64_t bits() const;
  // Equal bytes exactly for equal numbers.
  std::string key() const;

  BigInt operator-() const;
  friend LUMINAL_API BigInt operator+(const BigInt& a, const BigInt& b);
  friend LUMINAL_API BigInt operator-(const BigInt& a, const BigInt& b);
  friend LUMINAL_API BigInt operator*(const BigInt& a, const BigInt& b);
  // The divisor must not be zero.
  friend LUMINAL_API BigInt operator/(const BigInt& a, const BigInt& b);
  friend LUMINAL_API BigInt operator%(const BigInt& a, const BigInt& b);
  friend LUMINAL_API BigInt operator&(const BigInt& a, const BigInt& b);
  friend LUMINAL_API BigInt operator|(const BigInt& a, const BigInt& b);
  friend LUMINAL_API BigInt operator^(const BigInt& a, const BigInt& b);
  BigInt operator~() const;
  BigInt operator<<(uint64_t count) const;
  BigInt operator>>(uint64_t count) const;  // rounds towards minus infinity: -1 >> n is -1

  friend bool operator==(const BigInt&, const BigInt&) = default;
  friend LUMINAL_API std::strong_ordering operator<=>(const BigInt& a, const BigInt& b);

 private:
  using Limbs = std::vector<uint32_t>;  // least significant first, no leading zeros

  BigInt(bool negative, Limbs limbs);
  static std::pair<BigInt, BigInt> divide(const BigInt& a, const BigInt& b);
  Limbs two_complement(size_t size) const;
  static BigInt from_two_complement(Limbs limbs);
  template <typename F>
  static BigInt bitwise(const BigInt& a, const BigInt& b, F f);

  bool negative_ = false;  // false for zero
  Limbs limbs_;
};

}  // namespace luminal::egraph
