// Sorting, searching, histograms, and scans with places.
#include "luminal/graph/algorithms/sort.h"

#include <limits>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/limits.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/operands/signs.h"
#include "luminal/graph/primitives.h"
#include "luminal/pytorch/aten/functions.h"

namespace luminal::pytorch {
namespace {

using composite::at;

Values sorted(const Arguments& of) {
  const Sorted all = sort(of.tensor(0), of.integer(1), of.flag(2));
  return {all.values, all.indices};
}

// sort.stable has `stable` before the axis.
Values stably_sorted(const Arguments& of) {
  const Sorted all = sort(of.tensor(0), of.integer(2), of.flag(3));
  return {all.values, all.indices};
}

Values sorting_order(const Arguments& of) {
  return {sort(of.tensor(0), of.integer(1), of.flag(2)).indices};
}

Values greatest_few(const Arguments& of) {
  const Sorted few = top_k(of.tensor(0), of.size(1), of.integer(2), of.flag(3));
  return {few.values, few.indices};
}

// Place `rank` of the sorted axis, with the axis kept or not.
Values at_place(const Tensor& x, int axis, Expr rank, bool keepdim) {
  if (x.rank() == 0) return {x, full(x.graph(), {}, 0, DType::I64)};
  const int which = composite::normalize_axis("sort", axis, x.dims());
  const Sorted all = sort(x, which);
  const Tensor value = all.values.narrow(which, rank, 1),
               index = all.indices.narrow(which, rank, 1);
  if (keepdim) return {value, index};
  return {value.squeeze(which), index.squeeze(which)};
}

Values kth_value(const Arguments& of) {
  return at_place(of.tensor(0), of.integer(2), of.size(1) - 1, of.flag(3));
}

// The lower of two middle elements; of a NaN, or of those that aren't.
Values median_along(const Tensor& x, int axis, bool keepdim, bool skips_nan) {
  if (x.rank() == 0) return {x, full(x.graph(), {}, 0, DType::I64)};
  const int which = composite::normalize_axis("median", axis, x.dims());
  const Expr n = x.dim(which);
  if (n.is(0)) throw UserError("it is of no elements");
  const Sorted all = sort(x, which);
  if (!is_float(x.dtype())) return at_place(x, which, (n - 1) / 2, keepdim);
  const Tensor bad = isnan(x).cast(DType::I64);
  const Tensor count = sum(bad, which, {.keepdim = true});
  // NaN are sorted last: the first of them, or the middle of those before.
  const Tensor good = Scalar(n) - count;
  const Tensor middle_of_good = floor_divide(good - 1, 2);
  const Tensor middle = where(middle_of_good < 0, 0, middle_of_good);
  const Tensor place = skips_nan ? middle : where(count > 0, good, middle);
  const Tensor value = gather(all.values, which, place), index = gather(all.indices, which, place);
  if (keepdim) return {value, index};
  return {value.squeeze(which), index.squeeze(which)};
}

template <bool kSkipsNan>
Values median_of_axis(const Arguments& of) {
  return median_along(of.tensor(0), of.integer(1), of.flag(2), kSkipsNan);
}

template <bool kSkipsNan>
Values median_of_all(const Arguments& of) {
  const Tensor x = of.tensor(0);
  return {median_along(x.flatten(), 0, false, kSkipsNan)[0]};
}

bool is_right(const Arguments& of, size_t flag, size_t side) {
  return of.flag(flag) || (!of.is_none(side) && of.word(side) == "right");
}

Tensor as_index(const Tensor& x, bool narrow) { return narrow ? x.cast(DType::I32) : x; }

Values searched(const Arguments& of) {
  const auto order = of.maybe_tensor(5);
  const Tensor sorted = order ? gather(of.tensor(0), -1, *order) : of.tensor(0);
  const Tensor values = operand(of, 1, 0);
  const Tensor found = searchsorted(sorted, values, is_right(of, 3, 4));
  return {as_index(found, of.flag(2))};
}

Values bucketed(const Arguments& of) {
  const Tensor boundaries = of.tensor(1), values = operand(of, 0, 1);
  return {as_index(searchsorted(boundaries, values, of.flag(3)), of.flag(2))};
}

// Counts by scattering ones; elements outside of the range go to one more bin, which is dropped.
Values histogram_of(const Arguments& of) {
  const Tensor x = of.tensor(0).flatten();
  composite::check_float("histc", x);
  const Expr bins = of.size(1);
  const double low = of.real(2), high = of.real(3);
  const DType dtype = x.dtype();
  if (x.dim(0).is(0)) return {full(of.graph(), {bins}, 0, dtype)};
  Tensor from = full(of.graph(), {}, low, dtype), to = full(of.graph(), {}, high, dtype);
  if (low == high) {
    from = min(x);
    to = max(x);
    // One value alone is in the middle of a range of 2.
    const Tensor single = eq(from, to);
    from = where(single, from - 1.0, from);
    to = where(single, to + 1.0, to);
  }
  const Tensor inside = logical_and(x >= from, x <= to);
  const Tensor scaled = (x - from) * Scalar(bins);
  const Dims dims = x.dims();
  const Tensor range = composite::expand_to(to - from, dims);
  const Tensor place =
      composite::exact_quotient(where(inside, scaled, 0.0), range).cast(DType::I64);
  const Tensor last = where(place >= Scalar(bins), Scalar(bins - 1), place);
  const Tensor bin = where(inside, last, Scalar(bins));
  const Tensor counts = prim::scatter(full(of.graph(), {bins + 1}, 0, DType::I64), bin,
                                      full(of.graph(), dims, 1, DType::I64), Reducer::Sum);
  return {counts.narrow(0, 0, bins).cast(dtype)};
}

Tensor reversed_order(const Tensor& x) { return is_float(x.dtype()) ? -x : bitwise_not(x); }

// The running maximum, and the last place where it was.
Values running_maximum(const Tensor& x, int axis) {
  if (x.rank() == 0) return {x, full(x.graph(), {}, 0, DType::I64)};
  const int which = composite::normalize_axis("cummax", axis, x.dims());
  const Dims dims = x.dims();
  const Tensor greatest = cummax(x, which);
  Tensor is_new = eq(x, greatest);
  if (is_float(x.dtype())) is_new = logical_or(is_new, isnan(x));
  const Tensor place = prim::iota(x.graph(), Expr::index(which, dims[at(which)]), dims, DType::I64);
  return {greatest, cummax(where(is_new, place, 0), which)};
}

Values cumulative_maximum(const Arguments& of) {
  return running_maximum(of.tensor(0), of.integer(1));
}

Values cumulative_minimum(const Arguments& of) {
  const Values found = running_maximum(reversed_order(of.tensor(0)), of.integer(1));
  return {reversed_order(std::get<Tensor>(found[0].value)), found[1]};
}

// Each element over all before it, n² of them: a running sum of e^x would need the running maximum.
Values cumulative_logsumexp(const Arguments& of) {
  const Tensor x = of.tensor(0);
  if (x.rank() == 0) return {x};
  const int which = composite::normalize_axis("logcumsumexp", of.integer(1), x.dims());
  return {composite::in_compute_dtype(x, [&](const Tensor& v) {
    const Tensor rows = composite::axis_last(v, which);
    Dims dims = rows.dims();
    const Expr n = dims.back();
    dims.push_back(n);
    const int rank = static_cast<int>(dims.size());
    const Expr seen = Expr::index(rank - 2, n) >= Expr::index(rank - 1, n);
    const Tensor mask = prim::iota(x.graph(), seen, dims, DType::Bool);
    const Tensor all = composite::expand_to(rows.unsqueeze(-2), dims);
    const Tensor held = where(mask, all, -composite::kInf);
    return composite::axis_back(logsumexp(held, -1), which);
  })};
}

constexpr OpEntry kSortingOps[] = {
    {"aten.sort.default", "self, dim=-1, descending=False", sorted},
    {"aten.sort.stable", "self, stable=None, dim=-1, descending=False", stably_sorted},
    {"aten.argsort.default", "self, dim=-1, descending=False", sorting_order},
    {"aten.argsort.stable", "self, stable, dim=-1, descending=False",
     [](const Arguments& of) -> Values { return {stably_sorted(of)[1]}; }},
    {"aten.msort.default", "self",
     [](const Arguments& of) -> Values { return {sort(of.tensor(0), 0).values}; }},
    {"aten.topk.default", "self, k, dim=-1, largest=True, sorted=True", greatest_few},
    {"aten.kthvalue.default", "self, k, dim=-1, keepdim=False", kth_value},
    {"aten.median.dim", "self, dim, keepdim=False", median_of_axis<false>},
    {"aten.median.default", "self", median_of_all<false>},
    {"aten.nanmedian.dim", "self, dim, keepdim=False", median_of_axis<true>},
    {"aten.nanmedian.default", "self", median_of_all<true>},
    {"aten.searchsorted.Tensor",
     "sorted_sequence, self, out_int32=False, right=False, side=None, sorter=None", searched},
    {"aten.searchsorted.Scalar",
     "sorted_sequence, self, out_int32=False, right=False, side=None, sorter=None", searched},
    {"aten.bucketize.Tensor", "self, boundaries, out_int32=False, right=False", bucketed},
    {"aten.bucketize.Scalar", "self, boundaries, out_int32=False, right=False", bucketed},
    {"aten.histc.default", "self, bins=100, min=0, max=0", histogram_of},
    {"aten.cummax.default", "self, dim", cumulative_maximum},
    {"aten.cummin.default", "self, dim", cumulative_minimum},
    {"aten.logcumsumexp.default", "self, dim", cumulative_logsumexp},
};

}  // namespace

std::span<const OpEntry> sorting_ops() { return kSortingOps; }

}  // namespace luminal::pytorch
