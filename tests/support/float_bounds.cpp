#include "tests/support/float_bounds.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "luminal/shape/scalar.h"

namespace luminal::tests {
namespace {

struct Format {
  int mantissa;  // bits behind the point
  int low;       // exponent of the smallest subnormal
  double largest;
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::F32:
      return {23, -149, 0x1.fffffep127};
    case DType::F16:
      return {10, -24, 65504};
    case DType::BF16:
      return {7, -133, 0x1.fep127};
    default:
      return {52, -1074, std::numeric_limits<double>::max()};
  }
}

// f16 and bf16 compute in f32.
DType computes_in(DType dtype) { return dtype == DType::F64 ? DType::F64 : DType::F32; }

// The exponent of the last bit that is set, and how many bits there are up to the first.
int lowest_bit(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const auto bits = static_cast<uint64_t>(std::ldexp(std::fabs(fraction), 53));
  return exponent - 53 + std::countr_zero(bits);
}
int significant_bits(double value) { return std::ilogb(value) - lowest_bit(value) + 1; }

bool all_exact(std::span<const Bounded> operands) {
  return std::all_of(operands.begin(), operands.end(),
                     [](const Bounded& x) { return x.error == 0; });
}

bool surely_nonzero(const Bounded& x) {
  return std::isnan(x.value) || std::fabs(x.value) > x.error;
}

// Of a function that is not rounded correctly.
double after_function(DType dtype, double value, double error) {
  const double magnitude = std::fabs(value) + error;
  return rounded(dtype, value, error + kFunctionUlps * ulp_of(computes_in(dtype), magnitude));
}

double exp2_bound(DType dtype, const Bounded& x, double value) {
  if (x.error == 0 && x.value == std::floor(x.value)) return rounded(dtype, value, 0);
  return after_function(dtype, value, value * std::expm1(x.error * 0.6931471805599454));
}

double log2_bound(DType dtype, const Bounded& x, double value) {
  if (x.error == 0) {
    return x.value > 0 && std::isfinite(x.value) ? after_function(dtype, value, 0) : 0;
  }
  if (x.value + x.error < 0) return 0;  // NaN
  if (x.value - x.error <= 0) return kUnknown;
  return after_function(dtype, value, -std::log2(1 - x.error / x.value));
}

double sin_bound(DType dtype, const Bounded& x, double value) {
  if (std::isinf(x.value)) return 0;  // NaN
  if (x.error == 0 && x.value == 0) return 0;
  return after_function(dtype, value, std::min(x.error, 2.0));
}

double recip_bound(DType dtype, const Bounded& x, double value) {
  if (std::isinf(x.value)) return 0;
  if (x.error == 0) return x.value == 0 ? 0 : rounded(dtype, value, 0);
  const double magnitude = std::fabs(x.value);
  if (magnitude <= x.error) return kUnknown;
  return rounded(dtype, value, x.error / (magnitude * (magnitude - x.error)));
}

double sqrt_bound(DType dtype, const Bounded& x, double value) {
  if (std::isinf(x.value)) return 0;
  if (x.error == 0) return x.value < 0 ? 0 : rounded(dtype, value, 0);
  if (x.value + x.error < 0) return 0;  // NaN
  if (x.value - x.error < 0) return kUnknown;
  return rounded(dtype, value, value - std::sqrt(x.value - x.error));
}

double add_bound(DType dtype, const Bounded& a, const Bounded& b, double value) {
  if (std::isinf(a.value) || std::isinf(b.value)) return 0;
  return rounded(dtype, value, a.error + b.error);
}

double mul_bound(DType dtype, const Bounded& a, const Bounded& b, double value) {
  if (std::isinf(a.value) || std::isinf(b.value)) {
    const Bounded& other = std::isinf(a.value) ? b : a;
    return other.error == 0 || surely_nonzero(other) ? 0 : kUnknown;
  }
  return rounded(dtype, value,
                 std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error);
}

double mod_bound(DType dtype, const Bounded& a, const Bounded& b, double value) {
  const bool exact = a.error == 0 && b.error == 0;
  if (exact) return 0;
  if (std::isinf(a.value)) return 0;  // NaN
  if (std::isinf(b.value)) return a.error;
  const double x = std::fabs(a.value), y = std::fabs(b.value);
  if (y <= b.error) return kUnknown;
  // The quotient must truncate to the same integer all over the box.
  const double least = std::trunc((x - a.error) / (y + b.error) * (1 - 0x1p-50));
  const double most = std::trunc((x + a.error) / (y - b.error) * (1 + 0x1p-50));
  if (x <= a.error || least != most || most > 0x1p40) return kUnknown;
  return rounded(dtype, value, a.error + most * b.error);
}

double comparison_bound(const Bounded& a, const Bounded& b) {
  if (std::isnan(a.value) || std::isnan(b.value)) return 0;
  if (a.error == 0 && b.error == 0) return 0;
  const double apart = std::fabs(a.value - b.value);
  return apart > (a.error + b.error) * (1 + 0x1p-50) ? 0 : kUnknown;
}

double cast_bound(DType to, const Bounded& x, double value) {
  if (is_float(to)) return std::isinf(x.value) ? 0 : rounded(to, value, x.error);
  if (x.error == 0 || std::isnan(x.value)) return 0;
  if (to == DType::Bool) return surely_nonzero(x) ? 0 : kUnknown;
  const int64_t least = float_to_int(DType::I64, x.value - x.error);
  const int64_t most = float_to_int(DType::I64, x.value + x.error);
  return least == most ? 0 : kUnknown;
}

}  // namespace

double ulp_of(DType dtype, double value) {
  const Format format = format_of(dtype);
  if (value == 0 || !std::isfinite(value)) return std::ldexp(1.0, format.low);
  return std::ldexp(1.0, std::max(std::ilogb(value) - format.mantissa, format.low));
}

double rounded(DType dtype, double value, double error) {
  if (std::isnan(value)) return error == 0 ? 0 : kUnknown;
  const double magnitude = std::fabs(value) + error;
  if (!(magnitude <= format_of(dtype).largest)) {
    // The same f64 op on the same operands overflows in the same way.
    return dtype == DType::F64 && error == 0 ? 0 : kUnknown;
  }
  if (error == 0 && round_to(dtype, value) == value) return 0;
  // The yardstick rounds too: by half a unit of f64, which in f64 is as much again.
  return error + 0.5 * ulp_of(dtype, magnitude) + 0.5 * ulp_of(DType::F64, magnitude);
}

double bound_of(Op op, DType from, DType to, std::span<const Bounded> x, double value) {
  for (const Bounded& operand : x) {
    if (operand.error == kUnknown) return kUnknown;
  }
  const bool any_nan =
      std::any_of(x.begin(), x.end(), [](const Bounded& b) { return std::isnan(b.value); });
  switch (op) {
    case Op::LessThan:
    case Op::Equal:
      return comparison_bound(x[0], x[1]);
    case Op::Cast:
      return any_nan ? 0 : cast_bound(to, x[0], value);
    case Op::Bitcast:
      return all_exact(x) && !any_nan ? 0 : kUnknown;
    default:
      break;
  }
  if (any_nan) return 0;
  switch (op) {
    case Op::Exp2:
      return std::isinf(x[0].value) ? 0 : exp2_bound(from, x[0], value);
    case Op::Log2:
      return log2_bound(from, x[0], value);
    case Op::Sin:
      return sin_bound(from, x[0], value);
    case Op::Recip:
      return recip_bound(from, x[0], value);
    case Op::Sqrt:
      return sqrt_bound(from, x[0], value);
    case Op::Add:
      return add_bound(from, x[0], x[1], value);
    case Op::Mul:
      return mul_bound(from, x[0], x[1], value);
    case Op::Mod:
      return mod_bound(from, x[0], x[1], value);
    default:
      return kUnknown;
  }
}

void ReductionBound::add(const Bounded& x) {
  ++count_;
  if (x.error == kUnknown) unknown_ = true;
  if (std::isnan(x.value)) nan_ = true;
  if (std::isinf(x.value)) infinite_ = true;
  if (x.error != 0) exact_ = false;
  if (!std::isnan(x.value)) {
    upper_ = std::max(upper_, x.value + x.error);
    lower_ = std::max(lower_, x.value - x.error);
  }
  if (!std::isfinite(x.value) || x.error == kUnknown) return;
  const double most = std::fabs(x.value) + x.error;
  magnitudes_ += most;
  errors_ += x.error;
  highest_ *= most;
  product_ *= std::fabs(x.value);
  large_ *= std::max(1.0, most);
  if (x.value == 0 && x.error == 0) {
    exact_zero_ = true;
    return;
  }
  small_ *= std::min(1.0, std::max(std::fabs(x.value) - x.error, 0.0));
  if (x.value == 0) return;
  lowest_bit_ = std::min(lowest_bit_, lowest_bit(x.value));
  const int bits = significant_bits(x.value);
  if (bits > 1) product_bits_ += bits;
}

double ReductionBound::bound(double value) const {
  if (unknown_) return kUnknown;
  if (nan_) return 0;
  switch (reducer_) {
    case Reducer::Sum:
      return sum_bound(value);
    case Reducer::Prod:
      return product_bound(value);
    case Reducer::Max:
      return max_bound(value);
  }
  return kUnknown;
}

double ReductionBound::sum_bound(double value) const {
  const DType wide = computes_in(dtype_);
  const Format format = format_of(wide);
  if (!(magnitudes_ < format.largest / 2)) return kUnknown;
  if (infinite_) return 0;
  // Multiples of one unit whose magnitudes fit the mantissa add up exactly in any order.
  const bool exact = exact_ && (lowest_bit_ == std::numeric_limits<int>::max() ||
                                magnitudes_ <= std::ldexp(1.0, lowest_bit_ + format.mantissa + 1));
  if (exact || (exact_ && count_ <= 1)) return rounded(dtype_, value, 0);
  const double unit = std::ldexp(1.0, -format.mantissa - 1);
  const double terms = static_cast<double>(count_) * (wide == DType::F64 ? 2 : 1);
  return rounded(dtype_, value, errors_ + terms * unit * magnitudes_ * 1.0001);
}

double ReductionBound::product_bound(double value) const {
  const DType wide = computes_in(dtype_);
  const Format format = format_of(wide);
  const double smallest_normal = std::ldexp(1.0, format.low + format.mantissa);
  if (!(large_ < format.largest / 2)) return kUnknown;
  if (infinite_) {
    const bool clear = exact_zero_ ? exact_ && small_ > smallest_normal : small_ > smallest_normal;
    return clear ? 0 : kUnknown;
  }
  if (exact_zero_) return 0;
  const bool exact = exact_ && small_ > 2 * smallest_normal && product_bits_ <= format.mantissa + 1;
  if (exact || (exact_ && count_ <= 1)) return rounded(dtype_, value, 0);
  const double unit = std::ldexp(1.0, -format.mantissa - 1);
  const double terms = static_cast<double>(count_) * (wide == DType::F64 ? 2 : 1);
  // A partial product that underflows loses absolutely, and what follows may scale that up.
  const double underflow = terms * std::ldexp(1.0, format.low) * large_;
  const double spread = exact_ ? 0 : highest_ - product_ + 0x1p-50 * highest_;
  return rounded(dtype_, value, spread + terms * unit * highest_ * 1.0001 + underflow);
}

double ReductionBound::max_bound(double value) const {
  if (std::isinf(value)) return 0;
  return exact_ ? 0 : std::max({upper_ - value, value - lower_, 0.0}) * (1 + 0x1p-50);
}

}  // namespace luminal::tests
