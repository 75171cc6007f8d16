// Operators that only look at elements in another order, and those that put tensors together.
#include <algorithm>
#include <string>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/primitives.h"
#include "luminal/pytorch/aten/op_table.h"

namespace luminal::pytorch {
namespace {

// Counted from the front. UserError for one that there isn't.
int axis_of(const Tensor& x, int axis) {
  const int found = axis < 0 ? axis + x.rank() : axis;
  if (found >= 0 && found < x.rank()) return found;
  throw UserError("its tensor has no axis " + std::to_string(axis));
}

// A bound of a slice: negative ones count from the end, and all stay inside.
Expr bounded(Expr at, Expr size) {
  if (at.upper_bound() < 0) at = at + size;
  if (at.lower_bound() < 0) at = max(at, 0);
  return known_less_equal(at, size) ? at : min(at, size);
}

Tensor sliced(const Tensor& x, int axis, std::optional<Expr> first, std::optional<Expr> end,
              Expr step) {
  const Expr size = x.dim(axis);
  const Expr start = first ? bounded(*first, size) : Expr(0);
  const Expr stop = end ? bounded(*end, size) : size;
  return x.slice(axis, start, known_less_equal(start, stop) ? stop : max(start, stop), step);
}

Values slice_of(const Arguments& of) {
  return {sliced(of.tensor(0), of.integer(1), of.maybe_size(2), of.maybe_size(3), of.size(4))};
}

Values selection(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Expr index = of.size(2);
  return {x.select(of.integer(1), index.upper_bound() < 0 ? index + x.dim(of.integer(1)) : index)};
}

Values reshaped(const Arguments& of) { return {of.tensor(0).reshape(of.sizes(1))}; }

Values expanded(const Arguments& of) { return {of.tensor(0).expand(of.sizes(1))}; }

Values permuted(const Arguments& of) { return {of.tensor(0).permute(of.integers(1))}; }

Values squeezed(const Arguments& of) {
  Tensor x = of.tensor(0);
  if (x.rank() == 0) return {x};
  std::vector<int> axes = of.integers(1);
  for (int& axis : axes) axis = axis_of(x, axis);
  std::sort(axes.rbegin(), axes.rend());
  for (int axis : axes) {
    if (x.dim(axis).is(1)) x = x.squeeze(axis);
  }
  return {x};
}

Values all_squeezed(const Arguments& of) { return {of.tensor(0).squeeze()}; }

Values joined(const Arguments& of) {
  // Old tensors without elements have one dim, whatever the others have.
  std::vector<Tensor> kept;
  for (const Tensor& each : of.tensors(0)) {
    if (each.rank() != 1 || !each.dim(0).is(0)) kept.push_back(each);
  }
  if (kept.empty()) return {of.tensors(0).front()};
  return {kept.size() == 1 ? kept.front() : concat(kept, of.integer(1))};
}

Values pieces(const std::vector<Tensor>& all) { return Values(all.begin(), all.end()); }

// More than a program can name: the file is damaged.
constexpr int64_t kMostPieces = 1 << 16;
void check_pieces(int64_t count) {
  if (count > kMostPieces) throw UserError("it gives more than 65536 tensors");
}

Values split_evenly(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const int size = of.integer(1);
  const auto whole = x.dim(axis_of(x, of.integer(2))).to_int();
  if (whole && size > 0) check_pieces(*whole / size);
  return pieces(split(x, size, of.integer(2)));
}

Values chunked(const Arguments& of) {
  check_pieces(of.integer(1));
  return pieces(chunk(of.tensor(0), of.integer(1), of.integer(2)));
}

Values split_by_sizes(const Arguments& of) {
  return pieces(split(of.tensor(0), of.sizes(1), of.integer(2)));
}

Values unbound(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const int axis = of.integer(1);
  const auto count = x.dim(axis).to_int();
  if (!count) throw UserError("the dim that it takes apart has a size that each run chooses");
  check_pieces(*count);
  Values all;
  for (int64_t i = 0; i < *count; ++i) all.emplace_back(x.select(axis, i));
  return all;
}

// Paddings are from the last dim on, two each.
Values padded(const Tensor& x, const Dims& pads, const Scalar& value) {
  if (pads.size() > 2 * static_cast<size_t>(x.rank())) {
    throw UserError("it pads more axes than there are");
  }
  std::vector<Padding> paddings(static_cast<size_t>(x.rank()));
  for (size_t i = 0; i + 1 < pads.size(); i += 2) {
    paddings[paddings.size() - 1 - i / 2] = {.before = pads[i], .after = pads[i + 1]};
  }
  return {pad(x, paddings, value)};
}

Values flipped(const Arguments& of) {
  Tensor x = of.tensor(0);
  for (int axis : of.integers(1)) x = x.flip({axis});
  return {x};
}

Values rolled(const Arguments& of) {
  Tensor x = of.tensor(0);
  const Dims shifts = of.sizes(1);
  const std::vector<int> axes = of.integers(2);
  if (shifts.size() != std::max<size_t>(axes.size(), 1)) {
    throw UserError("it has a shift for some axes only");
  }
  if (axes.empty()) return {x.flatten().roll(shifts[0], 0).reshape(x.dims())};
  for (size_t i = 0; i < axes.size(); ++i) x = x.roll(shifts[i], axes[i]);
  return {x};
}

// Every `step`-th element from `start` on replaced by those of `part`, as many as it has.
Tensor replaced_by_steps(const Tensor& x, int axis, Expr start, Expr step, const Tensor& part) {
  const Dims dims = x.dims();
  const Expr count = part.dim(axis);
  if (count.is(0)) return x;
  const Expr from_start = Expr::index(axis, x.dim(axis)) - start;
  const Expr place = from_start / step;
  const Expr inside = from_start >= 0 && place * step >= from_start && place < count;
  std::vector<Expr> exprs;
  for (int i = 0; i < x.rank(); ++i) exprs.push_back(Expr::index(i, x.dim(i)));
  exprs[static_cast<size_t>(axis)] = max(min(place, count - 1), 0);
  const Dims source = part.dims();
  const Tensor spread = prim::view(part.cast(x.dtype()), IndexMap(dims, source, std::move(exprs)));
  return prim::select(prim::iota(x.graph(), inside, dims, DType::Bool), spread, x);
}

// x with a part along one axis replaced; step 1.
Tensor replaced(const Tensor& x, int axis, Expr start, Expr stop, const Tensor& part) {
  const Tensor inside = part.cast(x.dtype());
  std::vector<Tensor> parts;
  if (!start.is(0)) parts.push_back(x.slice(axis, 0, start));
  parts.push_back(inside);
  if (!(stop == x.dim(axis))) parts.push_back(x.slice(axis, stop, x.dim(axis)));
  const Tensor result = parts.size() == 1 ? inside : concat(parts, axis);
  // Bounds that a run chooses may leave a sum of sizes that isn't seen to be that of x.
  return result.dim(axis) == x.dim(axis) ? result : replaced_by_steps(x, axis, start, 1, inside);
}

Values slice_replaced(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const int axis = axis_of(x, of.integer(2));
  const Expr size = x.dim(axis);
  const Expr start = of.is_none(3) ? Expr(0) : bounded(of.size(3), size);
  const Expr stop = of.is_none(4) ? size : bounded(of.size(4), size);
  if (!of.size(5).is(1)) {
    return {replaced_by_steps(x, axis, start, of.size(5), of.tensor(1))};
  }
  return {replaced(x, axis, start, stop, of.tensor(1))};
}

Values selection_replaced(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const int axis = axis_of(x, of.integer(2));
  Expr index = of.size(3);
  if (index.upper_bound() < 0) index = index + x.dim(axis);
  return {replaced(x, axis, index, index + 1, of.tensor(1).unsqueeze(axis))};
}

// A graph has no strides: who recorded the program says in which order of axes the elements of x
// lie in memory without gaps.
Values with_strides(const Arguments& of) {
  const Tensor x = of.tensor(0);
  const Dims dims = of.sizes(1), strides = of.sizes(2);
  if (of.is_none(4)) {
    throw UserError("its tensor has gaps in memory, or lies somewhere inside of other memory");
  }
  const std::vector<int> order = of.integers(4);
  if (dims.size() != strides.size() || order.size() != x.dims().size()) {
    throw UserError("its sizes, strides and the order of its memory differ in length");
  }
  const Tensor in_memory = x.permute(order).flatten();
  const Expr size = in_memory.dim(0);
  const Expr first = of.is_none(3) ? Expr(0) : of.size(3);
  Expr at = first, last = first;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (strides[i].lower_bound() < 0) throw UserError("it has a negative stride");
    at = at + Expr::index(static_cast<int>(i), dims[i]) * strides[i];
    last = last + max(dims[i] - 1, 0) * strides[i];
  }
  if (first.lower_bound() < 0 || !known_less(last, size)) {
    throw UserError("its elements aren't known to be among those of its tensor");
  }
  return {prim::view(in_memory, IndexMap(dims, {size}, {at}))};
}

constexpr OpEntry kViewsOps[] = {
    {"aten.view.default", "self, size", reshaped},
    {"aten.reshape.default", "self, shape", reshaped},
    {"aten._unsafe_view.default", "self, size", reshaped},
    {"aten.view.dtype", "self, dtype",
     [](const Arguments& of) -> Values {
       if (of.is_none(1)) throw UserError("its dtype is None");
       return {of.tensor(0).bitcast(*of.maybe_dtype(1))};
     }},
    {"aten.flatten.using_ints", "self, start_dim=0, end_dim=-1",
     [](const Arguments& of) -> Values {
       const Tensor x = of.tensor(0);
       if (x.rank() == 0) return {x.reshape({1})};
       return {x.flatten(of.integer(1), of.integer(2))};
     }},
    {"aten.unflatten.int", "self, dim, sizes",
     [](const Arguments& of) -> Values {
       const Tensor x = of.tensor(0);
       const int axis = axis_of(x, of.integer(1));
       Dims dims(x.dims().begin(), x.dims().begin() + axis);
       const Dims factors = of.sizes(2);
       dims.insert(dims.end(), factors.begin(), factors.end());
       dims.insert(dims.end(), x.dims().begin() + axis + 1, x.dims().end());
       return {x.reshape(dims)};
     }},
    {"aten.expand.default", "self, size, implicit=False", expanded},
    {"aten.expand_as.default", "self, other",
     [](const Arguments& of) -> Values { return {of.tensor(0).expand_as(of.tensor(1))}; }},
    {"aten.as_strided.default", "self, size, stride, storage_offset=None, memory_order=None",
     with_strides},
    {"aten.permute.default", "self, dims", permuted},
    {"aten.transpose.int", "self, dim0, dim1",
     [](const Arguments& of) -> Values {
       const Tensor x = of.tensor(0);
       if (x.rank() == 0) return {x};
       return {x.transpose(of.integer(1), of.integer(2))};
     }},
    {"aten.t.default", "self",
     [](const Arguments& of) -> Values {
       return {of.tensor(0).rank() < 2 ? of.tensor(0) : of.tensor(0).t()};
     }},
    {"aten.mT.default", "self",
     [](const Arguments& of) -> Values { return {of.tensor(0).transpose(-2, -1)}; }},
    {"aten.numpy_T.default", "self",
     [](const Arguments& of) -> Values {
       std::vector<int> order;
       for (int axis = of.tensor(0).rank(); axis-- > 0;) order.push_back(axis);
       return {of.tensor(0).permute(order)};
     }},
    {"aten.unsqueeze.default", "self, dim",
     [](const Arguments& of) -> Values { return {of.tensor(0).unsqueeze(of.integer(1))}; }},
    {"aten.squeeze.default", "self", all_squeezed},
    {"aten.squeeze.dim", "self, dim", squeezed},
    {"aten.squeeze.dims", "self, dim", squeezed},
    {"aten.slice.Tensor", "self, dim=0, start=None, end=None, step=1", slice_of},
    {"aten.narrow.default", "self, dim, start, length",
     [](const Arguments& of) -> Values {
       return {of.tensor(0).narrow(of.integer(1), of.size(2), of.size(3))};
     }},
    {"aten.select.int", "self, dim, index", selection},
    {"aten.alias.default", "self", [](const Arguments& of) -> Values { return {of.tensor(0)}; }},
    {"aten.lift_fresh.default", "self",
     [](const Arguments& of) -> Values { return {of.tensor(0)}; }},
    {"aten.detach.default", "self", [](const Arguments& of) -> Values { return {of.tensor(0)}; }},
    {"aten.unfold.default", "self, dimension, size, step",
     [](const Arguments& of) -> Values {
       return {of.tensor(0).unfold(of.integer(1), of.size(2), of.size(3))};
     }},
    {"aten.cat.default", "tensors, dim=0", joined},
    {"aten.concat.default", "tensors, dim=0", joined},
    {"aten.stack.default", "tensors, dim=0",
     [](const Arguments& of) -> Values { return {stack(of.tensors(0), of.integer(1))}; }},
    {"aten.split.Tensor", "self, split_size, dim=0", split_evenly},
    {"aten.split_with_sizes.default", "self, split_sizes, dim=0", split_by_sizes},
    {"aten.unsafe_split.Tensor", "self, split_size, dim=0", split_evenly},
    {"aten.unsafe_split_with_sizes.default", "self, split_sizes, dim=0", split_by_sizes},
    {"aten.split.sizes", "self, split_size, dim=0", split_by_sizes},
    {"aten.chunk.default", "self, chunks, dim=0", chunked},
    {"aten.unbind.int", "self, dim=0", unbound},
    {"aten.constant_pad_nd.default", "self, pad, value=0",
     [](const Arguments& of) { return padded(of.tensor(0), of.sizes(1), of.scalar(2)); }},
    {"aten.repeat.default", "self, repeats",
     [](const Arguments& of) -> Values { return {of.tensor(0).repeat(of.sizes(1))}; }},
    {"aten.flip.default", "self, dims", flipped},
    {"aten.roll.default", "self, shifts, dims=[]", rolled},
    {"aten.tril.default", "self, diagonal=0",
     [](const Arguments& of) -> Values { return {tril(of.tensor(0), of.size(1))}; }},
    {"aten.triu.default", "self, diagonal=0",
     [](const Arguments& of) -> Values { return {triu(of.tensor(0), of.size(1))}; }},
    {"aten.slice_scatter.default", "self, src, dim=0, start=None, end=None, step=1",
     slice_replaced},
    {"aten.select_scatter.default", "self, src, dim, index", selection_replaced},
};

}  // namespace

std::span<const OpEntry> view_ops() { return kViewsOps; }

}  // namespace luminal::pytorch
