// Operators that combine elements at indices, and those of diagonals.
#include <algorithm>
#include <tuple>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"
#include "luminal/pytorch/aten/functions.h"

namespace luminal::pytorch {
namespace {

using composite::at;

Tensor order_reversed(const Tensor& x) { return is_float(x.dtype()) ? -x : bitwise_not(x); }

// Rows of `x` combined with `values` at `index`, by PyTorch's name of a reduction.
Tensor combined(const Tensor& x, const Tensor& index, const Tensor& values, const std::string& how,
                bool include_self) {
  if (x.dtype() == DType::Bool) throw UserError("it is of bool, which isn't supported");
  if (how == "amin") {
    return order_reversed(
        combined(order_reversed(x), index, order_reversed(values), "amax", include_self));
  }
  const bool adds = how == "sum" || how == "add" || how == "mean";
  const bool multiplies = how == "prod" || how == "multiply";
  if (!adds && !multiplies && how != "amax") throw UserError("its reduce is '" + how + "'");
  const Reducer reducer = adds ? Reducer::Sum : multiplies ? Reducer::Prod : Reducer::Max;
  const DType compute = is_half(x.dtype()) ? DType::F32 : x.dtype();
  const Tensor wide = x.cast(compute), news = values.cast(compute);
  const Tensor ones = prim::full_like(news, 1);
  const Tensor counts = prim::scatter(prim::full_like(wide, 0), index, ones, Reducer::Sum);
  // Where something is combined, what was there is either an operand or none.
  Tensor base = wide;
  if (!include_self) {
    const Tensor zeros = prim::full_like(wide, adds ? 0 : 1);
    base = where(counts > 0, zeros, wide);
    if (reducer == Reducer::Max) {
      // The first of the new ones, whichever: replaced, then combined with all.
      base = prim::scatter(wide, index, news);
    }
  }
  Tensor result = prim::scatter(base, index, news, reducer);
  if (how == "mean") {
    Tensor divisor = include_self ? counts + 1 : counts;
    divisor = where(divisor > 0, divisor, 1);
    result = is_float(compute) ? result / divisor : floor_divide(result, divisor);
  }
  return result.cast(x.dtype());
}

// Row-major places in x of x[…, index[i…], …]; indices are inside.
Tensor flat_places(const Tensor& x, int axis, const Tensor& index) {
  const Dims dims = index.dims();
  const std::vector<Expr> strides = contiguous_strides(x.dims());
  Expr others = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != at(axis)) others = others + Expr::index(static_cast<int>(i), dims[i]) * strides[i];
  }
  return index.cast(DType::I64) * Scalar(strides[at(axis)]) +
         prim::iota(x.graph(), others, dims, DType::I64);
}

Tensor scattered_by(const Tensor& x, int axis, const Tensor& index, const Tensor& src,
                    const std::string& how, bool include_self) {
  if (x.rank() == 0 || index.rank() == 0) {
    const Tensor result = scattered_by(x.reshape({x.n_elements()}), 0, index.reshape({1}),
                                       src.reshape({1}), how, include_self);
    return result.reshape(Dims(x.dims()));
  }
  if (index.n_elements().is(0)) return x;
  const int which = composite::normalize_axis("scatter", axis, x.dims());
  Tensor values = src;
  for (int i = 0; i < index.rank(); ++i) {
    if (values.dim(i) != index.dim(i)) values = values.narrow(i, 0, index.dim(i));
  }
  const Tensor places = flat_places(x, which, index).flatten();
  return combined(x.flatten(), places, values.flatten(), how, include_self).reshape(Dims(x.dims()));
}

Values scatter_reduced(const Arguments& of) {
  return {scattered_by(of.tensor(0), of.integer(1), of.tensor(2), of.tensor(3), of.word(4),
                       of.flag(5))};
}

Values scattered_named(const Arguments& of) {
  const Tensor x = of.tensor(0), index = of.tensor(2);
  const Tensor src = of.is_tensor(3)
                         ? of.tensor(3)
                         : full(of.graph(), Dims(index.dims()), of.scalar(3), x.dtype());
  return {scattered_by(x, of.integer(1), index, src, of.word(4), true)};
}

// Slices along an axis by a 1-D index: f of rows, index and the rows of `source`.
template <typename F>
Tensor with_rows(const Tensor& x, int axis, const Tensor& index, const Tensor& source, F f) {
  if (x.rank() == 0) {
    return with_rows(x.reshape({1}), 0, index, source.reshape({1}), f).reshape({});
  }
  const int which = composite::normalize_axis("index", axis, x.dims());
  std::vector<int> order = {which}, back;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != which) order.push_back(i);
    back.push_back(i < which ? i + 1 : i == which ? 0 : i);
  }
  Tensor values = source;
  if (source.rank() < x.rank()) {  // of an index without dims
    values = source.unsqueeze(which);
  }
  if (index.n_elements().is(0)) return x;
  const Tensor rows = index.rank() == 0 ? index.reshape({1}) : index;
  return f(x.permute(order), rows, values.permute(order)).permute(back);
}

Values rows_added(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Scalar alpha = of.scalar(4);
  if (x.dtype() == DType::Bool) throw UserError("it is of bool, which isn't supported");
  return {with_rows(
      x, of.integer(1), of.tensor(2), of.tensor(3),
      [&](const Tensor& rows, const Tensor& index, const Tensor& values) {
        const DType compute = is_half(x.dtype()) ? DType::F32 : x.dtype();
        const Tensor scaled = (values.cast(compute) * alpha).cast(compute);
        return prim::scatter(rows.cast(compute), index, scaled, Reducer::Sum).cast(x.dtype());
      })};
}

Values rows_copied(const Arguments& of) {
  return {with_rows(of.tensor(0), of.integer(1), of.tensor(2), of.tensor(3),
                    [](const Tensor& rows, const Tensor& index, const Tensor& values) {
                      return prim::scatter(rows, index, values);
                    })};
}

Values rows_combined(const Arguments& of) {
  const std::string how = of.word(4);
  const bool include_self = of.flag(5);
  return {with_rows(of.tensor(0), of.integer(1), of.tensor(2), of.tensor(3),
                    [&](const Tensor& rows, const Tensor& index, const Tensor& values) {
                      return combined(rows, index, values, how, include_self);
                    })};
}

Values rows_filled(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const bool scalar = x.rank() == 0;
  const Tensor rows = scalar ? x.reshape({1}) : x;
  const int axis = composite::normalize_axis("index_fill", of.integer(1), rows.dims());
  const Tensor index = of.tensor(2).flatten().cast(DType::I64);
  const Tensor from_start = where(index < 0, index + Scalar(rows.dim(axis)), index);
  // Whether each place along the axis is among the indices.
  const Tensor all = arange(of.graph(), rows.dim(axis));
  Tensor mask = any(eq(all.unsqueeze(1), from_start.unsqueeze(0)), 1);
  for (int i = axis + 1; i < rows.rank(); ++i) mask = mask.unsqueeze(-1);
  const Tensor value = operand(of, 3, 0).cast(x.dtype());
  return {where(mask, value, rows).reshape(Dims(x.dims()))};
}

Tensor wrapped(const Tensor& index, Expr size) {
  const Tensor wide = index.cast(DType::I64);
  return where(wide < 0, wide + Scalar(size), wide);
}

Values taken(const Arguments& of) {
  const Tensor x = of.tensor(0), index = of.tensor(1);
  if (index.n_elements().is(0)) return {full(of.graph(), Dims(index.dims()), 0, x.dtype())};
  return {prim::gather(x.flatten(), wrapped(index, x.n_elements()))};
}

Values put(const Arguments& of) {
  const Tensor x = of.tensor(0), index = of.tensor(1);
  if (index.n_elements().is(0)) return {x};
  const Tensor places = wrapped(index.flatten(), x.n_elements());
  const Tensor values = of.tensor(2).flatten();
  const Tensor rows = x.flatten();
  const Tensor result = of.flag(3) ? combined(rows, places, values, "sum", true)
                                   : prim::scatter(rows, places, values);
  return {result.reshape(Dims(x.dims()))};
}

Values masked_scattered(const Arguments& of) {
  Tensor x = of.tensor(0), mask = of.tensor(1);
  const Tensor source = of.tensor(2).flatten();
  if (source.dim(0).is(0)) return {x};
  std::tie(x, mask) = broadcast_together(x, mask);
  const Tensor order = cumsum(mask.flatten().cast(DType::I64), 0) - 1;
  const Tensor inside = where(order < 0, 0, where(order >= source.dim(0), 0, order));
  return {where(mask, prim::gather(source, inside).reshape(Dims(x.dims())), x)};
}

// Along a diagonal: its length and where it begins.
struct Diagonal {
  int a, b;
  Expr length, start_a, start_b;
};

Diagonal diagonal_of(const Dims& dims, int64_t offset, int first, int second) {
  const int a = composite::normalize_axis("diagonal", first, dims);
  const int b = composite::normalize_axis("diagonal", second, dims);
  if (a == b) throw UserError("its two axes are the same");
  const Expr start_a = std::max<int64_t>(-offset, 0), start_b = std::max<int64_t>(offset, 0);
  const Expr length = max(min(dims[at(a)] - start_a, dims[at(b)] - start_b), 0);
  return {a, b, length, start_a, start_b};
}

Values diagonal(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Diagonal along = diagonal_of(x.dims(), of.integer(1), of.integer(2), of.integer(3));
  Dims dims;
  std::vector<Expr> exprs(at(x.rank()));
  for (int i = 0; i < x.rank(); ++i) {
    if (i == along.a || i == along.b) continue;
    exprs[at(i)] = Expr::index(static_cast<int>(dims.size()), x.dim(i));
    dims.push_back(x.dim(i));
  }
  const Expr place = Expr::index(static_cast<int>(dims.size()), along.length);
  dims.push_back(along.length);
  if (along.length.is(0)) return {full(of.graph(), dims, 0, x.dtype())};
  exprs[at(along.a)] = place + along.start_a;
  exprs[at(along.b)] = place + along.start_b;
  const Dims source = x.dims();
  return {prim::view(x, IndexMap(dims, source, std::move(exprs)))};
}

// x with the diagonal replaced by `values`, whose last axis runs along it.
Tensor diagonal_replaced(const Tensor& x, const Tensor& values, int64_t offset, int first,
                         int second) {
  const Diagonal along = diagonal_of(x.dims(), offset, first, second);
  if (along.length.is(0)) return x;
  const Dims dims = x.dims();
  const Expr row = Expr::index(along.a, dims[at(along.a)]) - along.start_a;
  const Expr column = Expr::index(along.b, dims[at(along.b)]) - along.start_b;
  const Tensor inside =
      prim::iota(x.graph(), row >= column && column >= row && row >= 0 && row < along.length, dims,
                 DType::Bool);
  std::vector<Expr> exprs;
  const Dims source = values.dims();
  for (int i = 0; i < x.rank(); ++i) {
    if (i != along.a && i != along.b) exprs.push_back(Expr::index(i, dims[at(i)]));
  }
  exprs.push_back(max(min(row, along.length - 1), 0));
  return where(inside, prim::view(values.cast(x.dtype()), IndexMap(dims, source, std::move(exprs))),
               x);
}

Values diagonal_scattered(const Arguments& of) {
  return {
      diagonal_replaced(of.tensor(0), of.tensor(1), of.integer(2), of.integer(3), of.integer(4))};
}

Values diagonal_embedded(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const int offset = of.integer(1), rank = x.rank() + 1;
  Dims dims(x.dims().begin(), x.dims().end() - 1);
  const Expr size = x.dim(-1) + std::abs(offset);
  const int first = of.integer(2) < 0 ? of.integer(2) + rank : of.integer(2);
  const int second = of.integer(3) < 0 ? of.integer(3) + rank : of.integer(3);
  if (first == second || std::min(first, second) < 0 || std::max(first, second) >= rank) {
    throw UserError("its two axes aren't two of the result's");
  }
  for (int axis : {std::min(first, second), std::max(first, second)}) {
    dims.insert(dims.begin() + axis, size);
  }
  return {diagonal_replaced(full(of.graph(), dims, 0, x.dtype()), x, offset, first, second)};
}

Values traced(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Expr n = min(x.dim(0), x.dim(1));
  const Tensor square = x.narrow(0, 0, n).narrow(1, 0, n);
  const Tensor held = where(eye(of.graph(), n, DType::Bool), square, 0);
  return {sum(held.cast(x.dtype()))};
}

Values blocks(const Arguments& of) {
  std::vector<Tensor> rows;
  Expr before = 0, width = 0;
  std::vector<Tensor> matrices;
  for (Tensor each : of.tensors(0)) {
    while (each.rank() < 2) each = each.unsqueeze(0);
    width = width + each.dim(1);
    matrices.push_back(each);
  }
  for (const Tensor& each : matrices) {
    rows.push_back(pad_axis(each, 1, {.before = before, .after = width - before - each.dim(1)}));
    before = before + each.dim(1);
  }
  return {concat(rows, 0)};
}

Values is_among_elements(const Arguments& of) {
  const Tensor x = operand(of, 0, 1), among = operand(of, 1, 0).flatten();
  const DType dtype = promote(x.dtype(), among.dtype());
  const Tensor found = among.dim(0).is(0)
                           ? full(of.graph(), Dims(x.dims()), false, DType::Bool)
                           : any(eq(x.cast(dtype).unsqueeze(-1), among.cast(dtype)), -1);
  return {of.flag(3) ? logical_not(found) : found};
}

constexpr OpEntry kScatteringOps[] = {
    {"aten.scatter_reduce.two", "self, dim, index, src, reduce, include_self=True",
     scatter_reduced},
    {"aten.scatter.reduce", "self, dim, index, src, reduce", scattered_named},
    {"aten.scatter.value_reduce", "self, dim, index, value, reduce", scattered_named},
    {"aten.index_add.default", "self, dim, index, source, alpha=1", rows_added},
    {"aten.index_copy.default", "self, dim, index, source", rows_copied},
    {"aten.index_reduce.default", "self, dim, index, source, reduce, include_self=True",
     rows_combined},
    {"aten.index_fill.int_Scalar", "self, dim, index, value", rows_filled},
    {"aten.index_fill.int_Tensor", "self, dim, index, value", rows_filled},
    {"aten.take.default", "self, index", taken},
    {"aten.put.default", "self, index, source, accumulate=False", put},
    {"aten.masked_scatter.default", "self, mask, source", masked_scattered},
    {"aten.diagonal.default", "self, offset=0, dim1=0, dim2=1", diagonal},
    {"aten.diagonal_scatter.default", "self, src, offset=0, dim1=0, dim2=1", diagonal_scattered},
    {"aten.diag_embed.default", "self, offset=0, dim1=-2, dim2=-1", diagonal_embedded},
    {"aten.trace.default", "self", traced},
    {"aten.block_diag.default", "tensors", blocks},
    {"aten.isin.Tensor_Tensor", "elements, test_elements, assume_unique=False, invert=False",
     is_among_elements},
    {"aten.isin.Tensor_Scalar", "elements, test_element, assume_unique=False, invert=False",
     is_among_elements},
    {"aten.isin.Scalar_Tensor", "element, test_elements, assume_unique=False, invert=False",
     is_among_elements},
};

}  // namespace

std::span<const OpEntry> scattering_ops() { return kScatteringOps; }

}  // namespace luminal::pytorch
