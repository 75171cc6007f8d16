#include "luminal/graph/composite/rotary.h"

#include <fmt/format.h>

#include <cmath>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"

namespace luminal {
namespace {

void check_operand(const Tensor& x, const RotaryOptions& options) {
  composite::check_float("rotary_embedding", x);
  if (x.rank() < 2 || !(x.dim(-1) % 2).is(0)) {
    throw UserError(
        fmt::format("rotary_embedding: expects [… s, d] with an even d, but {} is {}; reshape it",
                    x.describe(), text(x.dims())));
  }
  if (options.frequencies && !same_dims(options.frequencies->dims(), {x.dim(-1) / 2})) {
    throw UserError(fmt::format("rotary_embedding: frequencies must be [{}], but are {}",
                                (x.dim(-1) / 2).text(), text(options.frequencies->dims())));
  }
}

// The frequency of each of the d elements of a row. In f64 to the end: the position multiplies an
// error made here.
Tensor frequencies(Graph& graph, Expr d, const RotaryOptions& options) {
  const bool halves = options.pairs == RotaryPairs::Halves;
  if (options.frequencies) {
    const Tensor given = *options.frequencies;
    return halves ? given.repeat({2}) : given.unsqueeze(1).expand({d / 2, 2}).flatten();
  }
  const Expr index = Expr::index(0, d);
  const Tensor pair = prim::iota(graph, halves ? index % (d / 2) : index / 2, {d}, DType::F64);
  return prim::exp2(pair * (-2 * std::log2(options.theta)) / d);
}

// The other element of each element's pair.
Tensor partners(const Tensor& x, RotaryPairs pairs) {
  const Expr half = x.dim(-1) / 2;
  if (pairs == RotaryPairs::Halves) return x.roll(half, -1);
  return x.split_dims(-1, {half, 2}).flip({-1}).merge_dims(-2);
}

// -1 for the first of each pair, 1 for the second: (a, b) becomes (a cos - b sin, b cos + a sin).
Expr direction(Expr d, RotaryPairs pairs) {
  const Expr index = Expr::index(0, d);
  const Expr is_second = pairs == RotaryPairs::Halves ? index >= d / 2 : index % 2;
  return 2 * is_second - 1;
}

}  // namespace

Tensor rotary_embedding(const Tensor& x, const RotaryOptions& options) {
  check_operand(x, options);
  Graph& graph = x.graph();
  const Expr length = x.dim(-2);
  const Expr d = x.dim(-1);
  return composite::in_compute_dtype(x, [&](const Tensor& v) {
    const Tensor positions =
        options.positions
            ? options.positions->cast(v.dtype())
            : prim::iota(graph, Expr::index(0, length) + options.offset, {length}, v.dtype());
    const Tensor angles = positions.unsqueeze(-1) * frequencies(graph, d, options).cast(v.dtype());
    const Tensor turn = prim::iota(graph, direction(d, options.pairs), {d}, v.dtype());
    return v * cos(angles) + partners(v, options.pairs) * (sin(angles) * turn);
  });
}

}  // namespace luminal
