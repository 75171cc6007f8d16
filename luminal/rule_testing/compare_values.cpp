#include "luminal/rule_testing/compare_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "luminal/shape/float_format.h"
#include "luminal/shape/scalar.h"

namespace luminal::rule_testing {
namespace {

// The stated error of approximate rules, relative to the largest element.
constexpr double kApproximate = 0.01;

bool same_bits(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

// The row `composite` of tests/conformance/tolerances.py.
double tolerance(DType dtype, double value) {
  const double ulps = bits(dtype) >= 32 ? 64 : 2;
  return ulps * float_format(dtype).ulp() * (std::abs(value) + 0.125);
}

double largest(const TensorData& data) {
  double most = 0;
  for (double value : data.to_doubles()) {
    if (std::isfinite(value)) most = std::max(most, std::abs(value));
  }
  return most;
}

// Sums of numbers that cancel have no error relative to themselves, but to their largest summand.
bool is_reordered(DType dtype, double one, double one_exact, double other, double other_exact,
                  double largest) {
  constexpr double kRounding = 64, kExactRounding = 4096;
  const double rounding = kRounding * float_format(dtype).ulp() * largest;
  const double exact = kExactRounding * float_format(DType::F64).ulp() * largest;
  return std::abs(one_exact - other_exact) <= exact && std::abs(one - one_exact) <= rounding &&
         std::abs(other - other_exact) <= rounding;
}

bool is_near(DType dtype, double one, double one_exact, double other, double other_exact,
             double extra, double reordered) {
  if (!std::isfinite(one) || !std::isfinite(other)) return same_bits(one, other);
  const double allowed = tolerance(dtype, one) + extra;
  if (std::abs(one - other) <= allowed) return true;
  if (reordered > 0 && is_reordered(dtype, one, one_exact, other, other_exact, reordered)) {
    return true;
  }
  // One of the two was rounded on the way: the other must then agree with the exact value of it.
  return (std::abs(other - one_exact) <= allowed || std::abs(one - other_exact) <= allowed) &&
         std::abs(one_exact - other_exact) <= allowed;
}

}  // namespace

std::string compare_values(RuleClass numeric_class, const TensorData& one,
                           const TensorData& one_exact, const TensorData& other,
                           const TensorData& other_exact, double reordered) {
  if (one.dims != other.dims || one.dtype != other.dtype) return "types";
  const bool real = is_float(one.dtype);
  const double extra =
      numeric_class == RuleClass::Approximate && real ? kApproximate * largest(one) : 0;
  const std::vector<double> one_reals = real ? one_exact.to_doubles() : std::vector<double>();
  const std::vector<double> other_reals = real ? other_exact.to_doubles() : std::vector<double>();
  for (int64_t i = 0; i < one.n_elements(); ++i) {
    if (!real) {
      const int64_t a = load_int(one.dtype, one.bytes.data(), i);
      const int64_t b = load_int(other.dtype, other.bytes.data(), i);
      if (a != b) return fmt::format("element {} is {} and {} ({})", i, a, b, name(one.dtype));
      continue;
    }
    const double a = load_float(one.dtype, one.bytes.data(), i);
    const double b = load_float(other.dtype, other.bytes.data(), i);
    const auto at = static_cast<size_t>(i);
    const bool agree =
        numeric_class == RuleClass::Exact
            ? same_bits(a, b)
            : is_near(one.dtype, a, one_reals[at], b, other_reals[at], extra, reordered);
    if (!agree) return fmt::format("element {} is {} and {} ({})", i, a, b, name(one.dtype));
  }
  return "";
}

}  // namespace luminal::rule_testing
