#include "luminal/graph/composite/movement.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/operands/elementwise.h"
#include "luminal/graph/operands/promotion.h"
#include "luminal/graph/primitives.h"

namespace luminal {

using composite::at;
using composite::normalize_axis;

namespace {

// Cuts off what negative constants in `padding` remove, and leaves in it what is to be added.
Tensor crop(const Tensor& x, int axis, Padding& padding) {
  Tensor result = x;
  auto is_negative = [](Expr size) { return size.to_int() && size.upper_bound() < 0; };
  const Expr whole = x.dim(axis) + padding.before + padding.after;
  if (whole.upper_bound() < 0) {
    throw UserError(fmt::format("pad: ({}, {}) removes more elements than axis {} of {} has",
                                padding.before.text(), padding.after.text(), axis, text(x.dims())));
  }
  // A cut longer than the axis also reduces the padding of the other end.
  auto cut = [&](Expr& size, Expr& other, bool from_start) {
    if (!is_negative(size)) return;
    const Expr taken = min(-size, result.dim(axis));
    other = other - (-size - taken);
    result = result.narrow(axis, from_start ? taken : Expr(0), result.dim(axis) - taken);
    size = 0;
  };
  cut(padding.before, padding.after, true);
  cut(padding.after, padding.before, false);
  return result;
}

// Checks that the dims differ only along `axis`; returns the common dtype.
DType check_pieces(std::string_view op, const std::vector<Tensor>& tensors, int axis) {
  DType dtype = tensors.front().dtype();
  const Dims& first = tensors.front().dims();
  for (const Tensor& tensor : tensors) {
    dtype = promote(dtype, tensor.dtype());
    const Dims& dims = tensor.dims();
    bool fits = dims.size() == first.size();
    for (size_t i = 0; fits && i < dims.size(); ++i) {
      fits = i == at(axis) || dims[i] == first[i];
    }
    if (!fits) {
      throw UserError(
          fmt::format("{}: dims {} and {} differ in more than axis {}; reshape, slice or "
                      "expand one of them",
                      op, text(first), text(dims), axis));
    }
  }
  return dtype;
}

Tensor triangle(std::string_view op, const Tensor& x, Expr diagonal, bool lower) {
  if (x.rank() < 2) {
    throw UserError(fmt::format("{}: expects a matrix, but {} is {}; unsqueeze it first", op,
                                x.describe(), text(x.dims())));
  }
  const Dims dims = x.dims();
  const int last = x.rank() - 1;
  const Expr row = Expr::index(last - 1, dims[at(last - 1)]) + diagonal;
  const Expr column = Expr::index(last, dims[at(last)]);
  const Expr inside = lower ? row >= column : column >= row;
  return prim::select(prim::iota(x.graph(), inside, dims, DType::Bool), x,
                      composite::constant_like(x, 0));
}

}  // namespace

// One view and one Select for all axes: maps are composed and predicates are joined.
Tensor pad(const Tensor& x, const std::vector<Padding>& paddings, const Scalar& value) {
  if (paddings.size() != x.dims().size()) {
    throw UserError(fmt::format("pad: {} paddings for {}; give one for each axis", paddings.size(),
                                text(x.dims())));
  }
  Tensor cropped = x;
  std::vector<Padding> added = paddings;
  for (int axis = 0; axis < x.rank(); ++axis) cropped = crop(cropped, axis, added[at(axis)]);

  IndexMap map = IndexMap::identity(cropped.dims());
  Expr inside = 1;
  bool empty = false;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto [before, after] = added[at(axis)];
    if (before.is(0) && after.is(0)) continue;
    const Dims source = map.dims();
    const Expr size = source[at(axis)] + before + after;
    empty = empty || source[at(axis)].is(0);
    inside = inside && IndexMap::pad_valid(source, axis, before, size);
    map = IndexMap::compose(IndexMap::pad(source, axis, before, size), map);
  }
  if (map.is_identity() && !empty) return cropped;
  const Dims dims = map.dims();
  const Tensor fill = prim::full(x.graph(), dims, value, x.dtype());
  if (empty) return fill;
  return prim::select(prim::iota(x.graph(), inside, dims, DType::Bool),
                      prim::view(cropped, std::move(map)), fill);
}

Tensor pad_axis(const Tensor& x, int axis, const Padding& padding, const Scalar& value) {
  std::vector<Padding> paddings(x.dims().size());
  paddings[at(normalize_axis("pad_axis", axis, x.dims()))] = padding;
  return pad(x, paddings, value);
}

// Each piece is shifted to its place in the result; comparisons with the bounds select one.
Tensor concat(const std::vector<Tensor>& tensors, int axis) {
  if (tensors.empty()) throw UserError("concat: no tensors given; give at least one");
  const int which = normalize_axis("concat", axis, tensors.front().dims());
  const DType dtype = check_pieces("concat", tensors, which);
  std::vector<Tensor> pieces;
  std::vector<Expr> starts;
  Expr total = 0;
  for (const Tensor& tensor : tensors) {
    const Expr size = tensor.dim(which);
    if (size.is(0)) continue;
    pieces.push_back(tensor.cast(dtype));
    starts.push_back(total);
    total = total + size;
  }
  if (pieces.empty()) return tensors.front().cast(dtype);
  if (pieces.size() == 1) return pieces.front();

  auto placed = [&](size_t i) {
    return prim::view(pieces[i], IndexMap::pad(pieces[i].dims(), which, starts[i], total));
  };
  Dims dims = tensors.front().dims();
  dims[at(which)] = total;
  Tensor result = placed(pieces.size() - 1);
  for (size_t i = pieces.size() - 1; i-- > 0;) {
    const Expr before_next = Expr::index(which, total) < starts[i + 1];
    const Tensor here = prim::iota(result.graph(), before_next, dims, DType::Bool);
    result = prim::select(here, placed(i), result);
  }
  return result;
}

Tensor stack(const std::vector<Tensor>& tensors, int axis) {
  if (tensors.empty()) throw UserError("stack: no tensors given; give at least one");
  std::vector<Tensor> pieces;
  for (const Tensor& tensor : tensors) {
    if (!same_dims(tensor.dims(), tensors.front().dims())) {
      throw UserError(
          fmt::format("stack: dims {} and {} differ; reshape, slice or expand one of "
                      "them",
                      text(tensors.front().dims()), text(tensor.dims())));
    }
    pieces.push_back(tensor.unsqueeze(axis));
  }
  const int rank = pieces.front().rank();
  return concat(pieces, axis < 0 ? axis + rank : axis);
}

std::vector<Tensor> chunk(const Tensor& x, int count, int axis) {
  const int which = normalize_axis("chunk", axis, x.dims());
  if (count < 1) throw UserError(fmt::format("chunk: {} pieces asked for; use 1 or more", count));
  const Expr whole = x.dim(which);
  if (const auto size = whole.to_int()) {
    if (*size == 0) return std::vector<Tensor>(static_cast<size_t>(count), x);
    return split(x, static_cast<int>((*size + count - 1) / count), which);
  }
  if (!(whole % count).is(0)) {
    throw UserError(
        fmt::format("chunk: axis {} of {} isn't known to be a multiple of {}; use split "
                    "with sizes",
                    axis, text(x.dims()), count));
  }
  return split(x, std::vector<Expr>(static_cast<size_t>(count), whole / count), which);
}

std::vector<Tensor> split(const Tensor& x, int size, int axis) {
  const int which = normalize_axis("split", axis, x.dims());
  const auto whole = x.dim(which).to_int();
  if (!whole) {
    throw UserError(
        fmt::format("split: the number of pieces depends on axis {} of {}; give a list "
                    "of sizes",
                    axis, text(x.dims())));
  }
  if (size < 1) throw UserError(fmt::format("split: pieces of size {}; use 1 or more", size));
  std::vector<Expr> sizes;
  for (int64_t start = 0; start < *whole; start += size) {
    sizes.emplace_back(std::min<int64_t>(size, *whole - start));
  }
  if (sizes.empty()) sizes.emplace_back(0);
  return split(x, sizes, which);
}

std::vector<Tensor> split(const Tensor& x, const std::vector<Expr>& sizes, int axis) {
  const int which = normalize_axis("split", axis, x.dims());
  std::vector<Tensor> pieces;
  Expr start = 0;
  for (Expr size : sizes) start = start + size;
  if (start != x.dim(which)) {
    throw UserError(
        fmt::format("split: the sizes add up to {}, but axis {} of {} is {}; change the "
                    "sizes, or slice it first",
                    start.text(), axis, text(x.dims()), x.dim(which).text()));
  }
  start = 0;
  for (Expr size : sizes) {
    pieces.push_back(x.narrow(which, start, size));
    start = start + size;
  }
  return pieces;
}

Tensor tril(const Tensor& x, Expr diagonal) { return triangle("tril", x, diagonal, true); }
Tensor triu(const Tensor& x, Expr diagonal) { return triangle("triu", x, diagonal, false); }

}  // namespace luminal
