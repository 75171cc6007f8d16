// The views of a Tensor and its operators. They check their arguments, with messages in the user's
// terms; IndexMap defines what a view does to indices.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/operands/axes.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/tensor.h"
#include "luminal/shape/shape.h"

namespace luminal {

using composite::at;
using composite::normalize_axis;

namespace {

// Replaces a -1 in `wanted` so that it has as many elements as `source`. `what` starts messages.
Dims solve_reshape(std::string_view what, const Dims& source, Dims wanted) {
  const Expr total = n_elements(source);
  const std::string asked = fmt::format("{} {} to {}", what, text(source), text(wanted));
  int unknown = -1;
  Expr known = 1;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].is(-1)) {
      known = known * wanted[i];
    } else if (unknown < 0) {
      unknown = static_cast<int>(i);
    } else {
      throw UserError(asked + ": only one dim may be -1; name the others");
    }
  }
  if (unknown >= 0) {
    if (known.is(0))
      throw UserError(asked + ": next to a dim of 0, -1 is ambiguous; name every dim");
    wanted[at(unknown)] = total / known;
    if (wanted[at(unknown)] * known != total) {
      throw UserError(
          fmt::format("{}: {} elements aren't known to be a multiple of {}; check the "
                      "dims, or name every dim",
                      asked, total.text(), known.text()));
    }
  } else if (known != total) {
    throw UserError(fmt::format("{}: {} elements can't become {}; the products must be equal",
                                asked, total.text(), known.text()));
  }
  return wanted;
}

// A Python slice bound: negative constants count from the end; clamped to [low, size + high].
Expr slice_bound(Expr bound, Expr size, int low, int high) {
  if (!bound.to_int()) return bound;
  const Expr from_start = bound.upper_bound() < 0 ? bound + size : bound;
  return max(min(from_start, size + high), low);
}

}  // namespace

Tensor Tensor::permute(std::span<const int> order) const {
  std::vector<int> axes;
  std::vector<bool> seen(dims().size());
  for (int axis : order) {
    axes.push_back(normalize_axis("permute", axis, dims()));
    seen[at(axes.back())] = true;
  }
  if (axes.size() != seen.size() || std::find(seen.begin(), seen.end(), false) != seen.end()) {
    throw UserError(fmt::format("permute: order [{}] must name each of the {} axes of {} once",
                                fmt::join(order, ", "), rank(), text(dims())));
  }
  return prim::view(*this, IndexMap::permute(dims(), axes));
}

Tensor Tensor::permute(std::initializer_list<int> order) const {
  return permute(std::span<const int>(order.begin(), order.size()));
}

Tensor Tensor::transpose(int axis_a, int axis_b) const {
  const int a = normalize_axis("transpose", axis_a, dims());
  const int b = normalize_axis("transpose", axis_b, dims());
  std::vector<int> order(dims().size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[at(a)], order[at(b)]);
  return permute(order);
}

Tensor Tensor::t() const {
  if (rank() < 2) {
    throw UserError(fmt::format("t: {} has no two axes to swap; unsqueeze it first", text(dims())));
  }
  return transpose(-2, -1);
}

Tensor Tensor::reshape(const Dims& wanted) const {
  const Dims solved = solve_reshape("reshape:", dims(), wanted);
  if (solved.size() > Shape::kMaxRank) {
    throw UserError(fmt::format("reshape: {} to {}: {} dims are too many; {} are supported",
                                text(dims()), text(wanted), solved.size(), Shape::kMaxRank));
  }
  return prim::view(*this, IndexMap::reshape(dims(), solved));
}

Tensor Tensor::flatten(int first, int last) const {
  if (rank() == 0) return unsqueeze(0);
  const int from = normalize_axis("flatten", first, dims());
  const int to = normalize_axis("flatten", last, dims());
  if (to < from) {
    throw UserError(fmt::format("flatten: axis {} comes after axis {} in {}; swap them", first,
                                last, text(dims())));
  }
  return merge_dims(from, to - from + 1);
}

Tensor Tensor::squeeze(int axis) const {
  const int which = normalize_axis("squeeze", axis, dims(), true);
  if (rank() == 0 || !dims()[at(which)].is(1)) return *this;
  return prim::view(*this, IndexMap::squeeze(dims(), which));
}

Tensor Tensor::squeeze() const {
  Tensor result = *this;
  for (int axis = rank() - 1; axis >= 0; --axis) result = result.squeeze(axis);
  return result;
}

Tensor Tensor::unsqueeze(int axis) const {
  const int places = rank() + 1;
  if (axis < -places || axis >= places) {
    throw UserError(fmt::format("unsqueeze: axis {} is out of range for {}; use {} … {}", axis,
                                text(dims()), -places, places - 1));
  }
  return prim::view(*this, IndexMap::unsqueeze(dims(), axis < 0 ? axis + places : axis));
}

Tensor Tensor::expand(const Dims& wanted) const {
  const size_t own = dims().size();
  if (wanted.size() < own) {
    throw UserError(fmt::format("expand: {} has more dims than {}; squeeze it, or name all dims",
                                text(dims()), text(wanted)));
  }
  Dims target = wanted;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool is_new = i + own < wanted.size();
    const Expr size = is_new ? Expr(1) : dims()[i + own - wanted.size()];
    if (wanted[i].is(-1) && !is_new) target[i] = size;
    if (target[i].upper_bound() < 0 || (target[i] != size && !size.is(1))) {
      throw UserError(fmt::format(
          "expand: {} can't become {}: axis {} is {} and only dims of size 1 repeat; use repeat",
          text(dims()), text(wanted), i, size.text()));
    }
  }
  return composite::expand_to(*this, target);
}

Tensor Tensor::expand_as(const Tensor& other) const { return expand(Dims(other.dims())); }

Tensor Tensor::merge_dims(int first, int count) const {
  const int from = normalize_axis("merge_dims", first, dims());
  if (count < 1 || from + count > rank()) {
    throw UserError(fmt::format("merge_dims: {} axes from axis {} on don't lie in {}; use 1 … {}",
                                count, first, text(dims()), rank() - from));
  }
  if (count == 1) return *this;
  return prim::view(*this, IndexMap::merge(dims(), from, count));
}

Tensor Tensor::split_dims(int axis, std::span<const Expr> factors) const {
  const int which = normalize_axis("split_dims", axis, dims());
  const std::string what = fmt::format("split_dims: axis {} of {}:", which, text(dims()));
  const Dims solved =
      solve_reshape(what, {dims()[at(which)]}, Dims(factors.begin(), factors.end()));
  return prim::view(*this, IndexMap::split(dims(), which, solved));
}

Tensor Tensor::split_dims(int axis, std::initializer_list<Expr> factors) const {
  return split_dims(axis, std::span<const Expr>(factors.begin(), factors.size()));
}

Tensor Tensor::slice(int axis, Expr start, Expr stop, Expr step) const {
  const int which = normalize_axis("slice", axis, dims());
  const Expr size = dims()[at(which)];
  if (step.is(0)) throw UserError("slice: the step is 0; use 1 or -1");
  if (step.upper_bound() < 0) {
    const Expr from = slice_bound(start, size, -1, -1);
    const Expr to = slice_bound(stop, size, -1, -1);
    const Expr count = luminal::max(ceil_div(from - to, -step), 0);
    return prim::view(*this, IndexMap::slice(dims(), which, from, count, step));
  }
  const Expr from = slice_bound(start, size, 0, 0);
  const Expr to = slice_bound(stop, size, 0, 0);
  const Expr count = luminal::max(ceil_div(to - from, step), 0);
  return prim::view(*this, IndexMap::slice(dims(), which, from, count, step));
}

Tensor Tensor::slice_from(int axis, Expr start) const {
  return slice(axis, start, dims()[at(normalize_axis("slice_from", axis, dims()))]);
}

Tensor Tensor::select(int axis, Expr index) const {
  const int which = normalize_axis("select", axis, dims());
  const Expr size = dims()[at(which)];
  const Expr from_start = index.upper_bound() < 0 ? index + size : index;
  if (from_start.upper_bound() < 0 || known_less_equal(size, from_start)) {
    throw UserError(fmt::format("select: index {} is out of range for axis {} of {}; use {} … {}",
                                index.text(), axis, text(dims()), (-size).text(),
                                (size - 1).text()));
  }
  return narrow(which, from_start, 1).squeeze(which);
}

Tensor Tensor::narrow(int axis, Expr start, Expr size) const {
  const int which = normalize_axis("narrow", axis, dims());
  const Expr whole = dims()[at(which)];
  const Expr from = start.to_int() && start.upper_bound() < 0 ? start + whole : start;
  if (from.upper_bound() < 0 || size.upper_bound() < 0 || known_less(whole, from + size)) {
    throw UserError(fmt::format("narrow: {} elements from index {} on don't fit in axis {} of {}",
                                size.text(), start.text(), axis, text(dims())));
  }
  return prim::view(*this, IndexMap::slice(dims(), which, from, size, 1));
}

Tensor Tensor::unfold(int axis, Expr size, Expr step, Expr dilation) const {
  const int which = normalize_axis("unfold", axis, dims());
  const Expr whole = dims()[at(which)];
  if (size.upper_bound() < 0 || step.upper_bound() < 1 || dilation.upper_bound() < 1) {
    throw UserError(fmt::format("unfold: size {}, step {} and dilation {} must be positive",
                                size.text(), step.text(), dilation.text()));
  }
  const Expr reach = (size - 1) * dilation + 1;
  if (known_less(whole, reach)) {
    throw UserError(
        fmt::format("unfold: a window of {} doesn't fit axis {} of {}; pad it or use a smaller one",
                    reach.text(), axis, text(dims())));
  }
  return prim::view(*this, IndexMap::windows(dims(), which, size, step, dilation));
}

Tensor Tensor::flip(std::initializer_list<int> axes) const {
  Tensor result = *this;
  if (axes.size() == 0) return result;  // PyTorch: flips nothing without axes
  for (int axis : composite::normalize_axes("flip", Axes(axes), dims())) {
    result = prim::view(result, IndexMap::flip(result.dims(), axis));
  }
  return result;
}

Tensor Tensor::roll(Expr shift, int axis) const {
  const int which = normalize_axis("roll", axis, dims());
  const Dims source = dims();
  const Expr size = source[at(which)];
  if (size.is(0)) return *this;
  std::vector<Expr> exprs = IndexMap::identity(source).exprs();
  exprs[at(which)] = (Expr::index(which, size) - shift) % size;
  return prim::view(*this, IndexMap(source, source, std::move(exprs)));
}

Tensor Tensor::repeat(const Dims& times) const {
  if (times.size() < dims().size()) {
    throw UserError(fmt::format("repeat: {} counts for {}; give at least one for each dim",
                                times.size(), text(dims())));
  }
  const Dims source = dims();
  const size_t added = times.size() - source.size();
  Dims result(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(added));
  std::vector<Expr> exprs;
  for (size_t i = 0; i < source.size(); ++i) {
    result.push_back(source[i] * times[added + i]);
    const Expr index = Expr::index(static_cast<int>(added + i), result.back());
    exprs.push_back(source[i].is(0) ? index : index % source[i]);
  }
  return prim::view(*this, IndexMap(std::move(result), source, std::move(exprs)));
}

Tensor Tensor::cast(DType to) const { return prim::cast(*this, to); }
Tensor Tensor::bitcast(DType to) const { return prim::bitcast(*this, to); }

Tensor Tensor::operator-() const { return luminal::neg(*this); }
Tensor& Tensor::operator+=(const Tensor& other) { return *this = *this + other; }
Tensor& Tensor::operator-=(const Tensor& other) { return *this = *this - other; }
Tensor& Tensor::operator*=(const Tensor& other) { return *this = *this * other; }
Tensor& Tensor::operator/=(const Tensor& other) { return *this = *this / other; }
Tensor& Tensor::operator+=(const Scalar& other) { return *this = *this + other; }
Tensor& Tensor::operator-=(const Scalar& other) { return *this = *this - other; }
Tensor& Tensor::operator*=(const Scalar& other) { return *this = *this * other; }
Tensor& Tensor::operator/=(const Scalar& other) { return *this = *this / other; }

}  // namespace luminal
