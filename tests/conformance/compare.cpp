// Compares two tensors element by element.
#include "tests/conformance/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace luminal::conformance {
namespace {

bool close(double expected, double got, const Tolerance& tolerance, bool sign_of_zero) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return expected == got;
  if (sign_of_zero && expected == 0 && got == 0) return std::signbit(expected) == std::signbit(got);
  return std::abs(got - expected) <= tolerance.atol + tolerance.rtol * std::abs(expected);
}

std::vector<int64_t> index_of(int64_t position, const std::vector<int64_t>& dims) {
  std::vector<int64_t> index(dims.size());
  for (size_t axis = dims.size(); axis-- > 0;) {
    index[axis] = position % dims[axis];
    position /= dims[axis];
  }
  return index;
}

// Calls `agree(k)` for each element and says where it is first false, and how often.
template <typename Values, typename Agree>
std::optional<std::string> first_bad(const Values& expected, const Values& got,
                                     const std::vector<int64_t>& dims, Agree agree) {
  size_t bad = 0, first = 0;
  for (size_t k = 0; k < expected.size(); ++k) {
    if (agree(expected[k], got[k])) continue;
    if (bad++ == 0) first = k;
  }
  if (bad == 0) return std::nullopt;
  return fmt::format("{} of {} elements differ, first at [{}]: expected {}, got {}", bad,
                     expected.size(), fmt::join(index_of(static_cast<int64_t>(first), dims), ", "),
                     expected[first], got[first]);
}

}  // namespace

std::optional<std::string> difference(const TensorData& expected, const TensorData& got,
                                      const Tolerance& tolerance, bool sign_of_zero) {
  if (expected.dtype != got.dtype)
    return fmt::format("dtype: expected {}, got {}", name(expected.dtype), name(got.dtype));
  if (expected.dims != got.dims)
    return fmt::format("dims: expected [{}], got [{}]", fmt::join(expected.dims, ", "),
                       fmt::join(got.dims, ", "));
  if (!is_float(expected.dtype))
    return first_bad(expected.to_ints(), got.to_ints(), expected.dims, std::equal_to());
  return first_bad(expected.to_doubles(), got.to_doubles(), expected.dims,
                   [&](double a, double b) { return close(a, b, tolerance, sign_of_zero); });
}

}  // namespace luminal::conformance
