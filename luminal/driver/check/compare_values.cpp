#include "luminal/driver/check/compare_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "luminal/driver/check/elements.h"
#include "luminal/shape/float_format.h"
#include "luminal/shape/index/position.h"
#include "luminal/shape/scalar.h"

namespace luminal {
namespace {

using interpret::Arithmetic;
using interpret::Variation;

// Integers and bool that comparisons and casts of floats determine may change with the last bits of
// those, and so may floats that are made of the bits of others. A wrong kernel gets more than this
// share of its elements wrong.
constexpr double kMayTurn = 0.25;
// A result that is left after larger numbers cancel is off by a few of their roundings.
constexpr double kCancels = 0.01;
// A few references don't cover the whole range of valid results.
constexpr double kSpread = 4;
// Number of perturbed references. After the first ones the remainder is skipped if most elements
// are unexplained: a rounding that may go either way shows in half of them.
constexpr int kFirstReferences = 8;
constexpr int kMostReferences = 32;

enum class FloatKind : uint8_t { Finite, Infinity, MinusInfinity, NotANumber };

FloatKind kind_of(double value) {
  if (std::isnan(value)) return FloatKind::NotANumber;
  if (std::isfinite(value)) return FloatKind::Finite;
  return value > 0 ? FloatKind::Infinity : FloatKind::MinusInfinity;
}

double element(const TensorData& data, int64_t at) {
  return is_float(data.dtype) ? load_float(data.dtype, data.bytes.data(), at)
                              : static_cast<double>(load_int(data.dtype, data.bytes.data(), at));
}

bool untouched(const TensorData& data, size_t element) {
  const size_t width = static_cast<size_t>(std::max(bits(data.dtype), 8)) / 8;
  const auto bytes = data.bytes.subspan(element * width, width);
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == kPoison; });
}

// An element outside of the tolerance, with the range of its references so far.
struct Suspect {
  int64_t at;
  double found, expected, tolerance;
  double low = expected, high = expected;  // of finite references
  bool kinds_differ = false;

  void add(double reference) {
    if (kind_of(reference) != kind_of(expected)) {
      kinds_differ = true;
    } else if (std::isfinite(reference)) {
      low = std::min(low, reference);
      high = std::max(high, reference);
    }
  }
  bool explained() const {
    if (kinds_differ) return true;
    if (!std::isfinite(found) || !std::isfinite(expected)) return false;
    const double reach = tolerance + kSpread * (high - low);
    return high > low && found >= low - reach && found <= high + reach;
  }
};

std::vector<Suspect> suspects_of(const ValueComparison& c, size_t& n_compared) {
  std::vector<int64_t> all;
  if (c.at == nullptr) {
    all.resize(static_cast<size_t>(c.found.n_elements()));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  }
  const std::vector<int64_t>& positions = c.at == nullptr ? all : *c.at;
  n_compared = positions.size();
  double largest = 0;
  for (int64_t at : positions) {
    const double value = element(c.expected, at);
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  const double relative = is_float(c.found.dtype) ? std::max(step_tolerance(c.found.dtype),
                                                             step_tolerance(c.allowance.least))
                                                  : 0;
  std::vector<Suspect> suspects;
  for (int64_t at : positions) {
    const double found = element(c.found, at), expected = element(c.expected, at);
    const double off = difference(found, expected);
    const double size = std::fabs(expected) + largest + kCancels * c.allowance.inside;
    const double tolerance = relative * size + c.allowance.inherited;
    if (off == 0 || off <= tolerance) continue;
    suspects.push_back({.at = at,
                        .found = found,
                        .expected = expected,
                        .tolerance = std::isfinite(tolerance) ? tolerance : 0});
  }
  return suspects;
}

void drop_explained(std::vector<Suspect>& suspects, const ValueComparison& c) {
  const auto add = [&](const Arithmetic& arithmetic) {
    const TensorData reference = c.varied(arithmetic);
    for (Suspect& suspect : suspects) suspect.add(element(reference, suspect.at));
    std::erase_if(suspects, [](const Suspect& suspect) { return suspect.explained(); });
  };
  // Narrow only excuses overflow: its values elsewhere are the declared ones.
  const TensorData narrow = c.varied({.variation = Variation::Narrow});
  std::erase_if(suspects, [&](const Suspect& suspect) {
    return !std::isfinite(suspect.found) && !std::isfinite(element(narrow, suspect.at));
  });
  if (suspects.empty()) return;
  add({.variation = Variation::Wide});
  const size_t at_first = suspects.size();
  for (int seed = 0; seed < kMostReferences && !suspects.empty(); ++seed) {
    if (seed == kFirstReferences && 2 * suspects.size() > at_first) return;
    add({.variation = Variation::Perturbed, .seed = static_cast<uint64_t>(seed)});
  }
}

// Adds an element that is wrong.
void blame(WrongElements& wrong, const Suspect& suspect) {
  if (wrong.count++ == 0) {
    wrong.first = static_cast<size_t>(suspect.at);
    wrong.found = suspect.found;
    wrong.expected = suspect.expected;
    wrong.lowest = wrong.dims;
  }
  wrong.largest = std::max(wrong.largest, difference(suspect.found, suspect.expected));
  const std::vector<int64_t> position = position_of(suspect.at, wrong.dims);
  for (size_t d = 0; d < position.size(); ++d) {
    wrong.lowest[d] = std::min(wrong.lowest[d], position[d]);
  }
}

}  // namespace

// Each is a few hundred roundings, far from what a wrong term makes.
double step_tolerance(DType dtype) {
  if (!is_float(dtype)) return 0;
  const int mantissa = float_format(dtype).mantissa;
  return mantissa >= 52 ? 1e-11 : mantissa >= 23 ? 1e-4 : mantissa >= 10 ? 2e-2 : 1e-1;
}

std::optional<WrongElements> compare_values(const ValueComparison& comparison) {
  WrongElements wrong{.dims = comparison.found.dims, .lowest = {}};
  std::vector<Suspect> suspects = suspects_of(comparison, wrong.of);
  if (!suspects.empty() && comparison.varied) drop_explained(suspects, comparison);
  if (suspects.empty()) return std::nullopt;
  for (const Suspect& suspect : suspects) blame(wrong, suspect);
  const bool few = static_cast<double>(wrong.count) <= kMayTurn * static_cast<double>(wrong.of);
  const bool by_bits = comparison.bits_decide || !is_float(comparison.found.dtype);
  if (comparison.may_turn && few && by_bits) return std::nullopt;
  wrong.untouched = untouched(comparison.found, wrong.first);
  return wrong;
}

}  // namespace luminal
