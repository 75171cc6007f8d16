#include "tests/foreign/real.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace luminal::tests::foreign {
namespace {

constexpr long double kInfinity = std::numeric_limits<long double>::infinity();

bool below(long double a, long double b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}
long double lesser(long double a, long double b) { return below(b, a) ? b : a; }
long double larger(long double a, long double b) { return below(a, b) ? b : a; }

long double down(long double x) { return std::nextafter(x, -kInfinity); }
long double up(long double x) { return std::nextafter(x, kInfinity); }

// What rounding to long double left out of a sum.
long double lost_by_sum(long double a, long double b, long double sum) {
  const long double part = sum - a;
  return (a - (sum - part)) + (b - part);
}
bool is_short(long double x) { return static_cast<long double>(static_cast<float>(x)) == x; }

struct Ends {
  long double low, high;
};
Ends sum_ends(long double a, long double b) {
  const long double sum = a + b;
  if (!std::isfinite(sum)) return {sum, sum};
  const long double lost = lost_by_sum(a, b, sum);
  return {lost < 0 ? down(sum) : sum, lost > 0 ? up(sum) : sum};
}
Ends product_ends(long double a, long double b) {
  const long double product = a * b;
  if (!std::isfinite(product) || product == 0 || (is_short(a) && is_short(b))) {
    return {product, product};
  }
  const long double lost = std::fma(a, b, -product);
  return {lost < 0 ? down(product) : product, lost > 0 ? up(product) : product};
}

Real widened_by(const Real& x, long double low, long double high) {
  return {x.low - low, x.high + high, x.nan};
}

// f of both ends of a growing function, each with an error of `units` of the dtype.
template <typename F>
Real growing(DType dtype, const Real& x, long double units, const F& f) {
  const long double low = f(x.low), high = f(x.high);
  auto error = [&](long double y) { return std::isfinite(y) ? units * unit_at(dtype, y) : 0.0L; };
  return widened_by({low, high, x.nan}, error(low), error(high));
}

// The exponent of the lowest bit that is set.
int lowest_bit(long double x) {
  if (x == 0) return 100000;
  int exponent = 0;
  const long double mantissa = std::frexp(x < 0 ? -x : x, &exponent);
  const auto bits = static_cast<uint64_t>(std::ldexp(mantissa, 64));
  return exponent - 64 + __builtin_ctzll(bits);
}

long double largest(DType dtype) {
  const Format format = format_of(dtype);
  return std::ldexp(2 - std::ldexp(1.0L, 1 - format.bits), format.most);
}

}  // namespace

bool Real::is_point() const {
  return !nan && low == high && std::signbit(low) == std::signbit(high);
}
bool Real::is_anything() const { return low == -kInfinity && high == kInfinity; }

Real point(long double value) { return std::isnan(value) ? nan_only() : Real{value, value, false}; }
Real nan_only() { return {kInfinity, -kInfinity, true}; }
Real anything() { return {-kInfinity, kInfinity, true}; }

Real hull(const Real& a, const Real& b) {
  return {lesser(a.low, b.low), larger(a.high, b.high), a.nan || b.nan};
}

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::F64:
      return {53, -1022, 1023};
    case DType::F32:
      return {24, -126, 127};
    case DType::F16:
      return {11, -14, 15};
    case DType::BF16:
      return {8, -126, 127};
    default:
      throw std::logic_error("not a float");
  }
}

long double rounded(DType dtype, long double value) {
  if (dtype == DType::F64) return static_cast<double>(value);
  if (dtype == DType::F32) return static_cast<float>(value);
  if (value == 0 || !std::isfinite(value)) return value;
  const Format format = format_of(dtype);
  const int unit = std::max(std::ilogb(value), format.least) - (format.bits - 1);
  const long double result = std::ldexp(std::rint(std::ldexp(value, -unit)), unit);
  return std::fabs(result) > largest(dtype) ? std::copysign(kInfinity, value) : result;
}

Real rounded(DType dtype, const Real& x) {
  if (x.is_nan()) return x;
  return {rounded(dtype, x.low), rounded(dtype, x.high), x.nan};
}

long double unit_at(DType dtype, long double value) {
  const Format format = format_of(dtype);
  const int exponent = value == 0 ? format.least : std::max(std::ilogb(value), format.least);
  return std::ldexp(1.0L, std::min(exponent, format.most) - (format.bits - 1));
}

long double roundoff(DType dtype) { return std::ldexp(1.0L, -format_of(dtype).bits); }

Real sum_of(const Real& a, const Real& b) {
  if (a.is_nan() || b.is_nan()) return nan_only();
  const Ends low = sum_ends(a.low, b.low), high = sum_ends(a.high, b.high);
  const bool clash =
      (a.high == kInfinity && b.low == -kInfinity) || (a.low == -kInfinity && b.high == kInfinity);
  if (clash) return a.low == a.high && b.low == b.high ? nan_only() : anything();
  return {low.low, high.high, a.nan || b.nan};
}

Real product_of(const Real& a, const Real& b) {
  if (a.is_nan() || b.is_nan()) return nan_only();
  auto is_infinite = [](const Real& x) { return x.low == -kInfinity || x.high == kInfinity; };
  auto has_zero = [](const Real& x) { return x.low <= 0 && x.high >= 0; };
  if ((is_infinite(a) && has_zero(b)) || (is_infinite(b) && has_zero(a))) {
    return a.low == a.high && b.low == b.high ? nan_only() : anything();
  }
  Real result{kInfinity, -kInfinity, a.nan || b.nan};
  for (long double x : {a.low, a.high}) {
    for (long double y : {b.low, b.high}) {
      const Ends ends = product_ends(x, y);
      result.low = lesser(result.low, ends.low);
      result.high = larger(result.high, ends.high);
      if (b.low == b.high && std::signbit(b.low) == std::signbit(b.high)) break;
    }
    if (a.low == a.high && std::signbit(a.low) == std::signbit(a.high)) break;
  }
  return result;
}

Real rest_of(const Real& a, const Real& b) {
  if (a.is_nan() || b.is_nan()) return nan_only();
  if (a.is_point() && b.is_point()) return point(std::fmod(a.low, b.low));
  const bool by_zero = b.low <= 0 && b.high >= 0;
  const bool of_infinity = std::isinf(a.low) || std::isinf(a.high);
  if (by_zero || of_infinity) return anything();
  if (b.is_point() && !std::isinf(b.low)) {
    const long double low = a.low / b.low, high = a.high / b.low;
    const bool same = std::trunc(low) == std::trunc(high) && (low > 0) == (high > 0);
    // A quotient next to a whole number may be on either side of it.
    const bool clear = std::fabs(low - std::nearbyint(low)) > 1e-15L * std::fabs(low) &&
                       std::fabs(high - std::nearbyint(high)) > 1e-15L * std::fabs(high);
    if (same && clear) return {std::fmod(a.low, b.low), std::fmod(a.high, b.low), a.nan};
  }
  const long double most = std::min(std::max(std::fabs(a.low), std::fabs(a.high)),
                                    std::max(std::fabs(b.low), std::fabs(b.high)));
  return {a.low < 0 ? -most : std::copysign(0.0L, a.low),
          a.high > 0 ? most : std::copysign(0.0L, a.high), a.nan || b.nan};
}

Real reciprocal_of(const Real& x) {
  if (x.is_nan()) return x;
  const bool passes_zero = std::signbit(x.low) != std::signbit(x.high);
  if (passes_zero) return {-kInfinity, kInfinity, x.nan};
  auto ends = [](long double v) -> Ends {
    const long double q = 1 / v;
    if (q == 0 || !std::isfinite(q)) return {q, q};
    const long double lost = std::fma(q, v, -1.0L);
    if (lost == 0) return {q, q};
    return {down(q), up(q)};
  };
  return {ends(x.high).low, ends(x.low).high, x.nan};
}

Real root_of(const Real& x) {
  if (x.is_nan() || x.high < 0) return nan_only();
  auto ends = [](long double v) -> Ends {
    const long double root = std::sqrt(v);
    if (root == 0 || !std::isfinite(root) || std::fma(root, root, -v) == 0) return {root, root};
    return {down(root), up(root)};
  };
  const bool may_be_negative = x.low < 0;
  return {may_be_negative ? -0.0L : ends(x.low).low, ends(x.high).high, x.nan || may_be_negative};
}

Real exp2_of(DType dtype, const Real& x) {
  if (x.is_nan()) return x;
  if (x.is_point() && std::trunc(x.low) == x.low) return point(std::exp2(x.low));
  const long double units = dtype == DType::F64 ? 1.0L : 0.9L;
  Real y = growing(dtype, x, units, [](long double v) { return std::exp2(v); });
  y.low = larger(y.low, 0.0L);
  return y;
}

Real log2_of(DType dtype, const Real& x) {
  if (x.is_nan() || x.high < 0) return nan_only();
  const bool may_be_negative = x.low < 0;
  const long double units = dtype == DType::F64 ? 1.0L : 1.1L;
  auto f = [](long double v) { return v <= 0 ? -kInfinity : std::log2(v); };
  Real y = growing(dtype, x, units, f);
  y.nan |= may_be_negative;
  return y;
}

Real sin_of(DType dtype, const Real& x) {
  if (x.is_nan()) return x;
  if (std::isinf(x.low) || std::isinf(x.high)) {
    return x.low == x.high ? nan_only() : Real{-1, 1, true};
  }
  if (x.low == 0 && x.high == 0) return x;
  const long double width = x.high - x.low;
  if (width > 2) return {-1, 1, x.nan};
  const long double units = dtype == DType::F64 ? 1.0L : 1.6L;
  const long double y = std::sin(x.low);
  const long double error = units * unit_at(dtype, std::fabs(y) + width) + width;
  return {std::max(y - error, -1.0L), std::min(y + error, 1.0L), x.nan};
}

Real widened(const Real& x, long double relative) {
  if (x.is_nan() || relative == 0) return x;
  auto error = [&](long double v) { return std::isfinite(v) ? std::fabs(v) * relative : 0.0L; };
  return widened_by(x, error(x.low), error(x.high));
}

Real magnitude_of(const Real& x) {
  if (x.is_nan()) return x;
  const long double most = std::max(std::fabs(x.low), std::fabs(x.high));
  return {most, most, x.nan};
}

Real greater_of(const Real& a, const Real& b) {
  if (a.is_nan() || b.is_nan()) return nan_only();
  return {larger(a.low, b.low), larger(a.high, b.high), a.nan || b.nan};
}

int less_than(const Real& a, const Real& b) {
  if (a.is_nan() || b.is_nan()) return 0;
  if (a.low >= b.high) return 0;
  return a.high < b.low && !a.nan && !b.nan ? 1 : -1;
}

int equal(const Real& a, const Real& b) {
  if (a.is_nan() || b.is_nan()) return 0;
  if (a.high < b.low || b.high < a.low) return 0;
  const bool points = a.low == a.high && b.low == b.high;
  return points && !a.nan && !b.nan ? 1 : -1;
}

void Accumulator::add(const Real& term) {
  ++count_;
  if (reducer_ == Reducer::Max) {
    max_ = count_ == 1 ? term : greater_of(max_, term);
    return;
  }
  may_nan_ |= term.nan;
  if (term.is_nan()) {
    is_nan_ = true;
  } else if (term.low == term.high && std::isinf(term.low)) {
    (term.low > 0 ? plus_ : minus_) = true;
  } else if (std::isinf(term.low) || std::isinf(term.high)) {
    loose_ = true;
  } else {
    add_finite(term);
  }
}

void Accumulator::add_finite(const Real& term) {
  const long double most = std::max(std::fabs(term.low), std::fabs(term.high));
  const long double least =
      term.low <= 0 && term.high >= 0 ? 0 : std::min(std::fabs(term.low), std::fabs(term.high));
  points_ &= term.low == term.high && !term.nan;
  if (reducer_ == Reducer::Sum) {
    low_ = sum_ends(low_, term.low).low;
    high_ = sum_ends(high_, term.high).high;
    magnitude_ = up(magnitude_ + most);
    if (points_) granularity_ = std::min(granularity_, lowest_bit(term.low));
    return;
  }
  if (least == 0 && most == 0) zero_ = true;
  if (least == 0 && most != 0) loose_ = true;
  whole_ &= points_ && std::trunc(term.low) == term.low;
  if (most >= 1) large_ = up(large_ * most);
  if (least < 1 && least > 0) small_ = down(small_ * least);
  product_ = product_of(product_, term);
}

Real Accumulator::result(long double room) const {
  if (reducer_ == Reducer::Max) return count_ == 0 ? point(-kInfinity) : max_;
  if (is_nan_) return nan_only();
  if (loose_) return anything();
  Real value = reducer_ == Reducer::Sum ? sum(room) : product();
  value.nan |= may_nan_;
  return value;
}

Real Accumulator::sum(long double room) const {
  if (plus_ && minus_) return nan_only();
  const long double unit = roundoff(dtype_);
  const bool overflows =
      magnitude_ * (1 + (static_cast<long double>(count_) + 4) * unit) + room >= largest(dtype_);
  if (overflows) return anything();
  if (plus_ || minus_) return point(plus_ ? kInfinity : -kInfinity);
  // Where all partial sums are numbers of the dtype, any order gives the same.
  const bool exact =
      points_ && room == 0 && magnitude_ <= std::ldexp(1.0L, format_of(dtype_).bits + granularity_);
  const long double error = exact || count_ <= 1
                                ? room
                                : (static_cast<long double>(count_) + 2) * unit * magnitude_ + room;
  Real value = widened_by({low_, high_, false}, error, error);
  if (value.low == 0) value.low = -0.0L;  // -0 and +0 add up to either, by the order
  if (value.high == 0) value.high = 0.0L;
  return value;
}

Real Accumulator::product() const {
  const Format format = format_of(dtype_);
  const long double least = std::ldexp(1.0L, format.least);
  if (count_ == 0) return point(1);
  if (count_ == 1 && !plus_ && !minus_) return product_;
  const bool stays = large_ < largest(dtype_) / 2 && small_ > least * 2;
  if (plus_ || minus_) {
    if (zero_) return nan_only();
    if (!(small_ > least * 2)) return anything();
    const bool positive = product_.low > 0 && !minus_;
    return positive ? point(kInfinity) : Real{-kInfinity, kInfinity, false};
  }
  if (zero_) return large_ < largest(dtype_) / 2 ? Real{-0.0L, 0.0L, false} : anything();
  if (!stays) return anything();
  const bool exact = whole_ && large_ <= std::ldexp(1.0L, format.bits);
  return widened(product_,
                 exact ? 0 : (static_cast<long double>(count_) + 1) * roundoff(dtype_) * 1.01L);
}

}  // namespace luminal::tests::foreign
