// BigInt: integers of any size, as the language's sort of that name has them.
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

// A sign and a magnitude. Division truncates towards zero and the remainder has the sign of the
// dividend; bitwise operations and shifts see endless two's complement.
class LUMINAL_API BigInt {
 public:
  BigInt(int64_t value = 0);
  // Digits after an optional sign, `_` between them is skipped; none where the text is no number.
  static std::optional<BigInt> from_string(std::string_view text);

  std::string to_string() const;
  bool is_zero() const { return limbs_.empty(); }
  bool is_negative() const { return negative_; }
  // Of the magnitude: 0 for 0, 3 for 7 and for -7.
  uint64_t bits() const;
  // The same bytes for equal numbers and no others.
  std::string key() const;

  BigInt operator-() const;
  friend LUMINAL_API BigInt operator+(const BigInt& a, const BigInt& b);
  friend LUMINAL_API BigInt operator-(const BigInt& a, const BigInt& b);
  friend LUMINAL_API BigInt operator*(const BigInt& a, const BigInt& b);
  // The divisor isn't zero.
  friend LUMINAL_API BigInt operator/(const BigInt& a, const BigInt& b);
  friend LUMINAL_API BigInt operator%(const BigInt& a, const BigInt& b);
  friend LUMINAL_API BigInt operator&(const BigInt& a, const BigInt& b);
  friend LUMINAL_API BigInt operator|(const BigInt& a, const BigInt& b);
  friend LUMINAL_API BigInt operator^(const BigInt& a, const BigInt& b);
  BigInt operator~() const;
  BigInt operator<<(uint64_t count) const;
  BigInt operator>>(uint64_t count) const;  // rounds down, so that -1 stays -1

  friend bool operator==(const BigInt&, const BigInt&) = default;
  friend LUMINAL_API std::strong_ordering operator<=>(const BigInt& a, const BigInt& b);

 private:
  using Limbs = std::vector<uint32_t>;  // little end first, no leading zeros

  BigInt(bool negative, Limbs limbs);
  static std::pair<BigInt, BigInt> divide(const BigInt& a, const BigInt& b);
  Limbs two_complement(size_t size) const;
  static BigInt from_two_complement(Limbs limbs);
  template <typename F>
  static BigInt bitwise(const BigInt& a, const BigInt& b, F f);

  bool negative_ = false;  // not for zero
  Limbs limbs_;
};

}  // namespace luminal::egraph
