#include "luminal/rule_testing/random_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "luminal/base/hash.h"
#include "luminal/shape/float_format.h"
#include "luminal/shape/scalar.h"

namespace luminal::rule_testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Expr variable(const char* name) { return Expr::var(name, 0, 64); }

double special_float(Random& random, DType dtype) {
  const FloatFormat format = float_format(dtype);
  // What most rules forget comes most often.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double values[] = {nan,
                           nan,
                           nan,
                           -0.0,
                           -0.0,
                           -0.0,
                           -0.0,
                           0.0,
                           kInfinity,
                           -kInfinity,
                           1.0,
                           -1.0,
                           format.smallest(),
                           -3 * format.smallest(),
                           format.smallest_normal(),
                           format.largest(),
                           -format.largest()};
  return random.pick(values);
}

// Any magnitude of the dtype, most often near 1.
double any_float(Random& random, DType dtype) {
  const int reach = std::min(-float_format(dtype).min_exponent, 120);
  const int exponent = random.one_in(2)
                           ? static_cast<int>(random.below(7)) - 3
                           : static_cast<int>(random.below(static_cast<size_t>(2 * reach))) - reach;
  return std::ldexp(random.one_in(2) ? 1 + random.unit() : -1 - random.unit(), exponent);
}

double random_float(Random& random, DType dtype, Values values) {
  switch (values) {
    case Values::All:
      return random.one_in(2) ? special_float(random, dtype) : any_float(random, dtype);
    case Values::Moderate: {
      const double specials[] = {
          std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 0.0, -0.0, 1.0, -1.0};
      return random.one_in(3) ? random.pick(specials) : random.unit() * 16 - 8;
    }
    case Values::Finite: {
      const double specials[] = {0.0, -0.0, 1.0, -1.0};
      return random.one_in(4) ? random.pick(specials) : random.unit() * 16 - 8;
    }
    case Values::Positive:
      return 0.125 + random.unit() * 8;
  }
  return 0;
}

int64_t random_integer(Random& random, DType dtype) {
  const int64_t largest = INT64_MAX >> (64 - bits(dtype) - is_unsigned(dtype));
  const int64_t specials[] = {0, 1, -1, 2, 3, largest, -largest - 1, 127, 256};
  return random.one_in(2) ? random.pick(specials) : static_cast<int64_t>(random.next());
}

// One random step of a map; its result has these dims.
IndexMap random_step_into(Random& random, const Dims& dims) {
  const size_t rank = dims.size();
  const size_t axis = rank == 0 ? 0 : random.below(rank);
  Dims source = dims;
  switch (random.below(8)) {
    case 0: {  // a permutation
      if (rank < 2) break;
      std::vector<int> order;
      for (size_t k = 0; k < rank; ++k) order.push_back(static_cast<int>(k));
      for (size_t k = rank - 1; k > 0; --k) std::swap(order[k], order[random.below(k + 1)]);
      for (size_t k = 0; k < rank; ++k) source[static_cast<size_t>(order[k])] = dims[k];
      return IndexMap::permute(source, order);
    }
    case 1:  // a broadcast of one dim
      if (rank == 0) break;
      source[axis] = 1;
      return IndexMap::expand(source, dims);
    case 2:
      if (rank == 0) break;
      return IndexMap::flip(source, static_cast<int>(axis));
    case 3: {  // a slice
      if (rank == 0) break;
      const int64_t start = static_cast<int64_t>(random.below(3));
      const int64_t step = 1 + static_cast<int64_t>(random.below(2));
      source[axis] = dims[axis] * step + start + static_cast<int64_t>(random.below(3));
      return IndexMap::slice(source, static_cast<int>(axis), start, dims[axis], step);
    }
    case 4:  // a dim of size 1 is dropped
      source.insert(source.begin() + static_cast<std::ptrdiff_t>(axis), Expr(1));
      return IndexMap::squeeze(source, static_cast<int>(axis));
    case 5:  // a dim of size 1 is added
      if (rank == 0 || !dims[axis].is(1)) break;
      source.erase(source.begin() + static_cast<std::ptrdiff_t>(axis));
      return IndexMap::unsqueeze(source, static_cast<int>(axis));
    case 6: {  // a dim is split in two
      if (rank < 2) break;
      const size_t first = random.below(rank - 1);
      const std::vector<Expr> factors = {dims[first], dims[first + 1]};
      source[first] = factors[0] * factors[1];
      source.erase(source.begin() + static_cast<std::ptrdiff_t>(first) + 1);
      return IndexMap::split(source, static_cast<int>(first), factors);
    }
    default: {  // two dims are merged
      if (rank == 0) break;
      source[axis] = 2;
      if (const std::optional<int64_t> size = dims[axis].to_int(); size && *size % 2 == 0) {
        source.insert(source.begin() + static_cast<std::ptrdiff_t>(axis) + 1, Expr(*size / 2));
      } else {
        source[axis] = 1;
        source.insert(source.begin() + static_cast<std::ptrdiff_t>(axis) + 1, dims[axis]);
      }
      return IndexMap::merge(source, static_cast<int>(axis), 2);
    }
  }
  return IndexMap::identity(dims);
}

}  // namespace

// splitmix64
uint64_t Random::next() {
  const uint64_t before = state_;
  state_ += 0x9e3779b97f4a7c15;
  return base::mix(before);
}

double Random::unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

DType random_dtype(Random& random) {
  const size_t which = random.below(12);  // floats have the most ways to differ
  if (which == 0) return DType::Bool;
  std::vector<DType> fitting;
  for (DType dtype : all_dtypes()) {
    if (kind(dtype) == (which <= 3 ? DTypeKind::Int : DTypeKind::Float)) fitting.push_back(dtype);
  }
  return fitting[random.below(fitting.size())];
}

Expr random_extent(Random& random) {
  switch (random.below(12)) {
    case 0:
      return 0;
    case 1:
    case 2:
    case 3:
      return 1;
    case 4:
    case 5:
      return variable("s");
    case 6:
      return variable("t");
    default:
      return static_cast<int64_t>(2 + random.below(4));
  }
}

Dims random_dims(Random& random) {
  Dims dims(random.below(4));
  for (Expr& dim : dims) dim = random_extent(random);
  return dims;
}

Bindings random_sizes(Random& random) {
  const int64_t sizes[] = {0, 1, 2, 3, 4, 7};
  return {{"s", random.pick(sizes)}, {"t", random.pick(sizes)}};
}

IndexMap random_map_into(Random& random, const Dims& dims) {
  IndexMap map = IndexMap::identity(dims);
  for (size_t steps = random.below(3); steps > 0; --steps) {
    map = IndexMap::compose(map, random_step_into(random, map.source_dims()));
  }
  return map;
}

IndexMap random_projection_into(Random& random, const Dims& dims) {
  Dims source;
  std::vector<Expr> exprs;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (random.one_in(2)) continue;
    const auto at = static_cast<std::ptrdiff_t>(random.below(source.size() + 1));
    source.insert(source.begin() + at, dims[k]);
    exprs.insert(exprs.begin() + at, Expr::index(static_cast<int>(k), dims[k]));
  }
  return IndexMap(dims, source, exprs);
}

Expr random_index(Random& random, const Dims& dims) {
  Expr expr = static_cast<int64_t>(random.below(300)) - 20;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (random.one_in(2)) continue;
    expr = expr + Expr::index(static_cast<int>(k), dims[k]) * static_cast<int64_t>(random.below(9));
  }
  return expr;
}

Number random_number(Random& random, DType dtype, Values values) {
  if (is_float(dtype)) return {dtype, round_to(dtype, random_float(random, dtype, values)), 0};
  return {dtype, 0, wrap_to(dtype, random_integer(random, dtype))};
}

TensorData random_data(Random& random, DType dtype, std::vector<int64_t> dims, Values values) {
  TensorData::Writable out = TensorData::zeros(dtype, std::move(dims));
  for (int64_t i = 0; i < out.data.n_elements(); ++i) {
    const Number number = random_number(random, dtype, values);
    if (is_float(dtype)) {
      store_float(dtype, out.bytes.data(), i, number.real);
    } else {
      store_int(dtype, out.bytes.data(), i, number.integer);
    }
  }
  return out.data;
}

}  // namespace luminal::rule_testing
