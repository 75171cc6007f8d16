// Steps along rows, and of rows by an index.
#include <optional>

#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/softmax.h"
#include "luminal/graph/primitives.h"
#include "tests/support/random_steps.h"

namespace luminal::tests::steps {
namespace {

// Indices in [0, rows), made of a new leaf or of integers that are there; rows ≥ 1.
Tensor indices(RandomTensors& from, Expr rows) {
  const DType dtype = from.random.chance(0.5) ? DType::I64 : DType::I32;
  Tensor x = from.random.chance(0.5) ? from.any_integer().cast(dtype)
                                     : from.leaf({from.random_size()}, dtype);
  if (x.rank() > 2) x = x.reshape({-1});
  const Tensor positive = prim::bit_and(x, prim::full_like(x, INT32_MAX));
  return prim::mod(positive, prim::full_like(x, rows));
}

}  // namespace

void reduce(RandomTensors& from) {
  Tensor x = from.any_computing();
  if (x.rank() == 0) return;
  if (from.random.chance(0.3)) x = x.transpose(from.any_axis(x), -1);
  if (from.random.chance(0.3)) {
    from.add(prim::add(x, from.row_statistic(x)));
  } else {
    from.add(prim::reduce(x, from.random_reducer()));
  }
}

void scan(RandomTensors& from) {
  Tensor x = from.any_computing();
  if (x.rank() == 0) return;
  if (from.random.chance(0.4)) x = x.transpose(from.any_axis(x), -1);
  from.add(prim::scan(x, from.random_reducer()));
}

void gather(RandomTensors& from) {
  const Tensor x = from.any();
  if (x.rank() == 0 || x.dim(0).lower_bound() < 1) return;
  from.add(prim::gather(x, indices(from, x.dim(0))));
}

void scatter(RandomTensors& from) {
  const Tensor x = from.any_computing();
  if (x.rank() == 0 || x.dim(0).lower_bound() < 1) return;
  const Tensor index = indices(from, x.dim(0));
  Dims dims = index.dims();
  dims.insert(dims.end(), x.dims().begin() + 1, x.dims().end());
  if (!from.fits(dims)) return;
  std::optional<Reducer> combine;
  if (from.random.chance(0.5)) combine = from.random_reducer();
  from.add(prim::scatter(x, index, from.leaf(dims, x.dtype()), combine));
}

void composite(RandomTensors& from) {
  const Tensor x = from.any_float();
  if (x.rank() == 0) return;
  if (from.random.chance(0.5)) {
    from.add(softmax(x, from.any_axis(x)));
    return;
  }
  from.add(matmul(x, from.leaf({x.dim(-1), from.random.between(1, 9)}, x.dtype())));
}

}  // namespace luminal::tests::steps
