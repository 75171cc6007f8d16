// Sorting by counting: the place of an element is the number of those that come before it.
//
// That is n² comparisons of n elements, which one kernel does without memory, on any number of
// lanes. A bitonic network takes log²n/2 passes over memory, 45 of 1,024 elements, each a kernel,
// and needs n to be known; from some ten thousand elements on it would be faster. Up to kMostKnown
// elements are counted, more are refused by name.
#include "luminal/graph/algorithms/sort.h"

#include <fmt/format.h>

#include <limits>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/elementwise.h"
#include "luminal/graph/primitives.h"

namespace luminal {
namespace {

constexpr int64_t kMostKnown = 1 << 15;

// Integers in the order of x. A float's bits are in its order where its sign is clear, and in the
// opposite order where it is set.
Tensor keys_of(const Tensor& x) {
  if (!is_float(x.dtype())) return x.dtype() == DType::I64 ? x : x.cast(DType::I32);
  if (is_half(x.dtype())) return keys_of(x.cast(DType::F32));
  const bool wide = x.dtype() == DType::F64;
  const DType dtype = wide ? DType::I64 : DType::I32;
  const int64_t most =
      wide ? std::numeric_limits<int64_t>::max() : int64_t{std::numeric_limits<int32_t>::max()};
  const Tensor raw = prim::bitcast(where(eq(x, 0), composite::constant_like(x, 0), x), dtype);
  const Tensor size = prim::bit_and(raw, composite::constant_like(raw, most));
  return where(isnan(x), composite::constant_like(raw, most), where(raw < 0, -1 - size, raw));
}

void check_sortable(std::string_view op, const Tensor& x, int axis) {
  const auto size = x.dim(axis).to_int();
  if (!size || *size <= kMostKnown) return;
  throw UserError(
      fmt::format("{}: axis {} of {} has more than {} elements, which sorting by counting is too "
                  "slow for; sort parts of it",
                  op, axis, text(x.dims()), kMostKnown));
}

// Of keys [… n] along the last axis: how many come before each, as i64.
Tensor places_of_keys(const Tensor& keys, bool descending) {
  const Expr n = keys.dim(-1);
  const int rank = keys.rank();
  Dims dims = keys.dims();
  dims.push_back(n);
  const Tensor mine = composite::expand_to(keys.unsqueeze(-1), dims);
  const Tensor other = composite::expand_to(keys.unsqueeze(-2), dims);
  const Tensor before = descending ? mine < other : other < mine;
  const Tensor earlier =
      prim::iota(keys.graph(), Expr::index(rank, n) < Expr::index(rank - 1, n), dims, DType::Bool);
  const Tensor counts = logical_or(before, logical_and(eq(mine, other), earlier));
  return prim::reduce(counts.cast(DType::I32), Reducer::Sum).cast(DType::I64);
}

}  // namespace

Tensor sorted_places(const Tensor& x, int axis, bool descending) {
  const int which = composite::normalize_axis("sort", axis, x.dims());
  check_sortable("sort", x, which);
  return composite::axis_back(places_of_keys(composite::axis_last(keys_of(x), which), descending),
                              which);
}

Sorted sort(const Tensor& x, int axis, bool descending) {
  const int which = composite::normalize_axis("sort", axis, x.dims(), true);
  if (x.rank() == 0) return {x, full(x.graph(), {}, 0, DType::I64)};
  if (x.n_elements().is(0)) return {x, full(x.graph(), Dims(x.dims()), 0, DType::I64)};
  const Tensor places = sorted_places(x, which, descending).materialize();
  const Dims dims = x.dims();
  const Tensor index =
      prim::iota(x.graph(), Expr::index(which, dims[composite::at(which)]), dims, DType::I64);
  const Tensor indices = scatter(composite::constant_like(index, 0), which, places, index);
  return {gather(x, which, indices), indices};
}

Sorted top_k(const Tensor& x, Expr count, int axis, bool largest) {
  const int which = composite::normalize_axis("topk", axis, x.dims(), true);
  if (x.rank() == 0) return sort(x, 0);
  if (known_less(x.dim(which), count) || count.upper_bound() < 0) {
    throw UserError(fmt::format("topk: {} elements asked of axis {} of {}; ask for at most {}",
                                count.text(), axis, text(x.dims()), x.dim(which).text()));
  }
  const Sorted all = sort(x, which, largest);
  return {all.values.narrow(which, 0, count), all.indices.narrow(which, 0, count)};
}

Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right) {
  if (sorted.rank() == 0) throw UserError("searchsorted: what is searched has no axis");
  const Expr n = sorted.dim(-1);
  Dims dims = values.dims();
  dims.push_back(n);
  Tensor among = sorted;
  if (sorted.rank() > 1) {
    const int batch = sorted.rank() - 1;
    bool fits = values.rank() == sorted.rank();
    for (int i = 0; fits && i < batch; ++i) fits = values.dim(i) == sorted.dim(i);
    if (!fits) {
      throw UserError(
          fmt::format("searchsorted: {} is searched for values {}; all but their last "
                      "dims must be equal",
                      text(sorted.dims()), text(values.dims())));
    }
    among = sorted.unsqueeze(-2);
  }
  const DType dtype = promote(sorted.dtype(), values.dtype());
  const Tensor there = composite::expand_to(among.cast(dtype), dims);
  const Tensor wanted = composite::expand_to(values.cast(dtype).unsqueeze(-1), dims);
  // The negation counts all of them for a NaN.
  const Tensor below = right ? logical_not(wanted < there) : logical_not(wanted <= there);
  return prim::reduce(below.cast(DType::I32), Reducer::Sum).cast(DType::I64);
}

}  // namespace luminal
