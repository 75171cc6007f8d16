#include "tests/foreign/leaf_data.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/foreign/oracle.h"
#include "tests/foreign/scalars.h"

namespace luminal::tests::foreign {
namespace {

long double random_real(DType dtype, Values values, Random& random) {
  const double u = random.uniform() * 4 - 2;
  const bool narrow = dtype == DType::F16;
  switch (values) {
    case Values::Whole:
      return static_cast<long double>(random.range(-4, 4));
    case Values::Wide:
      return std::ldexp(u, static_cast<int>(random.range(narrow ? -8 : -20, narrow ? 6 : 20)));
    case Values::Weights:
      return 0.01L + std::fabs(u) / 16;
    case Values::Special:
      break;
    case Values::Plain:
    case Values::Rows:
      return u;
  }
  constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
  const Format format = format_of(dtype);
  switch (random.range(0, 15)) {
    case 0:
      return kInfinity;
    case 1:
      return -kInfinity;
    case 2:
      return std::numeric_limits<long double>::quiet_NaN();
    case 3:
      return -0.0L;
    case 4:
      return 0.0L;
    case 5:  // subnormal
      return std::ldexp(u, format.least - static_cast<int>(random.range(1, format.bits - 2)));
    case 6:
      return std::ldexp(u, format.most - 1);
    case 7:
      return static_cast<long double>(random.range(-300, 300)) * 0.5L;
    case 8:
      return std::ldexp(u, static_cast<int>(random.range(format.least, format.most - 2)));
    default:
      return u;
  }
}

int64_t random_whole(DType dtype, Values values, Random& random) {
  if (dtype == DType::Bool) return random.range(0, 1);
  if (dtype == DType::U4) return random.range(0, 15);
  const bool ends = values == Values::Special && random.chance(0.3);
  if (ends) {
    const int64_t least = least_of(dtype);
    const int64_t most = dtype == DType::U8 ? 255 : -(least + 1);
    return random.pick({least, most, least + 1, int64_t{0}, wrapped(dtype, ~0ULL)});
  }
  if (values == Values::Wide || values == Values::Special) return wrapped(dtype, random.bits());
  return wrapped(dtype, static_cast<uint64_t>(random.range(dtype == DType::U8 ? 0 : -9, 9)));
}

int64_t random_row(const Leaf& leaf, int64_t rows, Random& random) {
  if (leaf.outside && random.chance(0.3)) {
    return random.pick({int64_t{-1}, rows, rows + 7, int64_t{-2147483648}, int64_t{2147483647}});
  }
  return rows <= 0 ? 0 : random.range(0, rows - 1);
}

std::vector<std::byte> random_elements(const Step& step, const Leaf& leaf,
                                       std::span<const int64_t> variables, Random& random) {
  const int64_t count = count_of(sizes_of(step.shape, variables));
  std::vector<std::byte> bytes(bytes_of(step.dtype, count));
  const int64_t rows = leaf.rows ? value_of(*leaf.rows, variables) : 0;
  for (int64_t k = 0; k < count; ++k) {
    uint64_t pattern = 0;
    if (is_float(step.dtype)) {
      const long double value = random_real(step.dtype, leaf.values, random);
      pattern = bits_of_float(step.dtype, rounded(step.dtype, value));
    } else if (leaf.values == Values::Rows) {
      pattern = static_cast<uint64_t>(random_row(leaf, rows, random));
    } else {
      pattern = static_cast<uint64_t>(random_whole(step.dtype, leaf.values, random));
    }
    store_bits(step.dtype, bytes, static_cast<size_t>(k), pattern);
  }
  return bytes;
}

}  // namespace

void add_leaf_data(Program& program, Random& random) {
  for (size_t r = 0; r < program.runs.size(); ++r) {
    ProgramRun& run = program.runs[r];
    for (const auto& [k, leaf] : program.leaves) {
      const Step& step = program.steps[static_cast<size_t>(k)];
      const bool stays =
          r > 0 && (step.role == Role::Weight || step.role == Role::State) && random.chance(0.75);
      if (!stays) {
        run.leaves[step.name] = random_elements(step, leaf, run.variables, random);
      } else if (step.role == Role::Weight) {
        run.leaves[step.name] = program.runs[r - 1].leaves.at(step.name);
      }
    }
  }
}

}  // namespace luminal::tests::foreign
