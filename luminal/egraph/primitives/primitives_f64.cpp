#include "luminal/egraph/primitives/primitives.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace luminal::egraph {
namespace {

using MaybeReal = std::optional<double>;

// A total order: NaN equals itself and is greater than everything else.
bool less(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

int64_t saturated(double number) {
  if (std::isnan(number)) return 0;
  if (number >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (number < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(number);
}

// The shortest decimal that reads back as this number: ±0.digits · 10^exponent.
struct Digits {
  std::string digits;
  int exponent;
};

Digits digits_of(double number) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(number),
                                 std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<size_t>(end.ptr - buffer.data()));
  const size_t e = text.find('e');
  Digits result{.digits = std::string(text.substr(0, e)), .exponent = 1};
  std::erase(result.digits, '.');
  const size_t sign = text[e + 1] == '+' ? 1 : 0;  // from_chars doesn't accept a plus sign
  std::from_chars(text.data() + e + 1 + sign, text.data() + text.size(), result.exponent);
  ++result.exponent;
  return result;
}

std::string name_of_special(double number) {
  return std::isnan(number) ? "NaN" : number > 0 ? "inf" : "-inf";
}

// Uses an exponent instead of many zeros: 1e16, 1e-7.
std::string to_string(double number) {
  if (!std::isfinite(number)) return name_of_special(number);
  const double magnitude = std::abs(number);
  if (magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16)) return print_f64(number);
  const auto [digits, exponent] = digits_of(number);
  std::string text = (number < 0 ? "-" : "") + digits.substr(0, 1);
  if (digits.size() > 1) text += "." + digits.substr(1);
  return text + "e" + std::to_string(exponent - 1);
}

}  // namespace

std::string print_f64(double number) {
  if (!std::isfinite(number)) return name_of_special(number);
  auto [digits, exponent] = digits_of(number);
  if (exponent <= 0) {
    digits.insert(0, static_cast<size_t>(1 - exponent), '0');
    exponent = 1;
  }
  const size_t whole = static_cast<size_t>(exponent);
  if (digits.size() <= whole) digits.append(whole + 1 - digits.size(), '0');
  digits.insert(whole, ".");
  return (std::signbit(number) ? "-" : "") + digits;
}

void add_f64_primitives(PrimitiveAdder& to) {
  to.add<double, double>("+", [](double a, double b) { return a + b; });
  to.add<double, double>("-", [](double a, double b) { return a - b; });
  to.add<double, double>("*", [](double a, double b) { return a * b; });
  to.add<double, double>(
      "/", [](double a, double b) { return b != 0 ? MaybeReal(a / b) : MaybeReal(); });
  to.add<double, double>(
      "%", [](double a, double b) { return b != 0 ? MaybeReal(std::fmod(a, b)) : MaybeReal(); });
  to.add<double, double>("^", [](double a, double b) { return std::pow(a, b); });
  to.add<double>("neg", [](double a) { return -a; });
  to.add<double>("abs", [](double a) { return std::abs(a); });
  to.add<double, double>("min", [](double a, double b) { return less(b, a) ? b : a; });
  to.add<double, double>("max", [](double a, double b) { return less(b, a) ? a : b; });
  to.add_test<double, double>("<", [](double a, double b) { return less(a, b); });
  to.add_test<double, double>(">", [](double a, double b) { return less(b, a); });
  to.add_test<double, double>("<=", [](double a, double b) { return !less(b, a); });
  to.add_test<double, double>(">=", [](double a, double b) { return !less(a, b); });
  to.add<double>("to-i64", [](double a) { return saturated(a); });
  to.add<double>("to-string", [](double a) { return to_string(a); });
}

}  // namespace luminal::egraph
