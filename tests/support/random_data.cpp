#include <algorithm>
#include <cmath>
#include <limits>

#include "luminal/shape/scalar.h"
#include "tests/support/random_graph.h"

namespace luminal::tests {
namespace {

enum class Style { Usual, Small, Whole, Positive, Special };

Style random_style(RandomSource& random) {
  static constexpr Style kStyles[] = {Style::Usual, Style::Usual,    Style::Usual,
                                      Style::Small, Style::Positive, Style::Whole};
  return random.chance(0.04) ? Style::Special : random.of(std::span<const Style>(kStyles));
}

double special_real(RandomSource& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  static constexpr double kValues[] = {
      0.0,     -0.0,     kInfinity, -kInfinity, 0x1p-149, -0x1p-140,  0x1p-24, 0x1.fffffep127,
      65504.0, 0x1p-126, 1.0,       -1.0,       kNan,     16777217.0, 0x1p-14, -0.5};
  return random.of(std::span<const double>(kValues));
}

double random_real(Style style, RandomSource& random) {
  switch (style) {
    case Style::Usual:
      return random.normal();
    case Style::Small:
      return random.normal() * 0.125;
    case Style::Whole:
      return static_cast<double>(random.between(-4, 4));
    case Style::Positive:
      return 0.25 + std::fabs(random.normal());
    case Style::Special:
      return random.chance(0.2) ? special_real(random) : random.normal();
  }
  return 0;
}

int64_t random_integer(DType dtype, Style style, RandomSource& random) {
  switch (style) {
    case Style::Positive:
      return random.between(1, 9);
    case Style::Special:
      if (random.chance(0.2)) {
        const int64_t end = (int64_t{1} << (bits(dtype) - 2)) - 1;
        return random.chance(0.5) ? end * 2 + 1 : -end * 2 - 2;
      }
      return static_cast<int64_t>(random.bits());
    case Style::Usual:
    case Style::Small:
    case Style::Whole:
      return random.between(-20, 20);
  }
  return 0;
}

}  // namespace

TensorData random_data(DType dtype, const std::vector<int64_t>& dims, RandomSource& random) {
  TensorData::Writable result = TensorData::zeros(dtype, dims);
  const Style style = random_style(random);
  const int64_t count = result.data.n_elements();
  for (int64_t i = 0; i < count; ++i) {
    if (is_float(dtype)) {
      store_float(dtype, result.bytes.data(), i, round_to(dtype, random_real(style, random)));
    } else if (dtype == DType::Bool || dtype == DType::U4) {
      store_int(dtype, result.bytes.data(), i, random.below(dtype == DType::Bool ? 2 : 16));
    } else {
      store_int(dtype, result.bytes.data(), i,
                wrap_to(dtype, random_integer(dtype, style, random)));
    }
  }
  return result.data;
}

Bindings random_bindings(const std::vector<Expr>& variables, RandomSource& random) {
  Bindings bindings;
  for (Expr variable : variables) {
    const int64_t least = variable.lower_bound(), most = variable.upper_bound();
    int64_t value = random.between(least, most);
    if (random.chance(0.35)) value = std::max(least, random.between(0, 1));
    if (random.chance(0.15)) value = most;
    bindings.set(variable.name(), value);
  }
  return bindings;
}

}  // namespace luminal::tests
