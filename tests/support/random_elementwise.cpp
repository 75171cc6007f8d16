// Steps that compute element by element.
#include <span>

#include "luminal/graph/primitives.h"
#include "tests/support/random_steps.h"

namespace luminal::tests::steps {
namespace {

Tensor positive(const Tensor& x) { return prim::add(prim::mul(x, x), prim::full_like(x, 0.5)); }

Tensor comparison(RandomTensors& from, const Tensor& x) {
  const Tensor y = from.partner(x);
  return from.random.chance(0.75) ? prim::less_than(x, y) : prim::equal(x, y);
}

// A predicate on the index: a triangle, a stripe, an edge.
Tensor index_mask(RandomTensors& from, const Tensor& x) {
  if (x.rank() == 0) return prim::iota(from.graph, 1, {}, DType::Bool);
  const int axis = from.any_axis(x), other = from.any_axis(x);
  const Expr i = Expr::index(axis, x.dim(axis)), j = Expr::index(other, x.dim(other));
  const Expr masks[] = {i < j + 1, i % 3 < 1, i >= 2 && j < 5, i < x.dim(axis) - 1, i >= 1};
  return prim::iota(from.graph, from.random.of(std::span<const Expr>(masks)), Dims(x.dims()),
                    DType::Bool);
}

}  // namespace

void unary(RandomTensors& from) {
  Tensor x = from.any_float();
  switch (from.random.below(6)) {
    case 0:
      from.add(prim::exp2(from.random.chance(0.3) ? x : prim::sin(x)));
      return;
    case 1:
      from.add(prim::log2(from.random.chance(0.2) ? x : positive(x)));
      return;
    case 2:
      from.add(prim::recip(from.random.chance(0.2) ? x : positive(x)));
      return;
    case 3:
      from.add(prim::sqrt(from.random.chance(0.2) ? x : positive(x)));
      return;
    default:
      from.add(prim::sin(x));
      return;
  }
}

void binary(RandomTensors& from) {
  const Tensor x = from.any_computing();
  const Tensor y = from.partner(x);
  const bool swap = from.random.chance(0.3);
  const Tensor& a = swap ? y : x;
  const Tensor& b = swap ? x : y;
  if (x.dtype() != DType::Bool && from.random.chance(0.12)) {
    from.add(prim::mod(a, b));
  } else {
    from.add(from.random.chance(0.55) ? prim::add(a, b) : prim::mul(a, b));
  }
}

void integer_binary(RandomTensors& from) {
  const Tensor x = from.any_integer();
  const Tensor y = from.partner(x);
  switch (from.random.below(3)) {
    case 0:
      from.add(prim::int_div(x, y));
      return;
    case 1:
      from.add(prim::bit_and(x, y));
      return;
    default:
      from.add(prim::mod(x, y));
      return;
  }
}

void compare(RandomTensors& from) { from.add(comparison(from, from.any_computing())); }

void select(RandomTensors& from) {
  const Tensor x = from.any_computing();
  std::vector<Tensor> conditions;
  for (const Tensor& other : from.pool) {
    if (other.dtype() == DType::Bool && same_dims(other.dims(), x.dims())) {
      conditions.push_back(other);
    }
  }
  const Tensor condition =
      conditions.empty() || from.random.chance(0.3)
          ? (from.random.chance(0.5) ? comparison(from, x) : index_mask(from, x))
          : from.random.of(conditions);
  const Tensor y = from.partner(x);
  from.add(from.random.chance(0.5) ? prim::select(condition, x, y) : prim::select(condition, y, x));
}

void cast(RandomTensors& from) { from.add(from.any().cast(from.computing_dtype())); }

void bitcast(RandomTensors& from) {
  const Tensor x = from.any_computing();
  static constexpr DType kPairs[][2] = {{DType::F32, DType::I32}, {DType::F64, DType::I64},
                                        {DType::F16, DType::I16}, {DType::BF16, DType::I16},
                                        {DType::I8, DType::U8},   {DType::U8, DType::I8},
                                        {DType::I32, DType::F32}, {DType::I16, DType::BF16}};
  for (const auto& pair : kPairs) {
    if (pair[0] == x.dtype()) {
      from.add(x.bitcast(pair[1]));
      return;
    }
  }
}

}  // namespace luminal::tests::steps
