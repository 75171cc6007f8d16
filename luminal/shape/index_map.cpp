// IndexMap: one constructor per kind of view, composition, and the arithmetic of dims.
#include "luminal/shape/index_map.h"

#include "luminal/base/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace luminal {
namespace {

std::vector<Expr> indices_of(const Dims& dims) {
  std::vector<Expr> indices;
  indices.reserve(dims.size());
  for (size_t k = 0; k < dims.size(); ++k) {
    indices.push_back(Expr::index(static_cast<int>(k), dims[k]));
  }
  return indices;
}

size_t checked_axis(const Dims& dims, int axis, std::string_view what) {
  LUMINAL_CHECK(axis >= 0 && static_cast<size_t>(axis) < dims.size(),
                fmt::format("{}: axis {} of {}", what, axis, text(dims)));
  return static_cast<size_t>(axis);
}

bool has_no_elements(const Dims& dims) {
  return std::ranges::any_of(dims, [](Expr d) { return d.is(0); });
}

// The map where the view or its source has no elements: nothing is read, so every index is 0.
IndexMap all_zero(Dims dims, const Dims& source) {
  return IndexMap(std::move(dims), source, std::vector<Expr>(source.size(), Expr(0)));
}

// The view that changes one axis only: `dims` has as many dims as the source.
IndexMap with_axis(const Dims& source, size_t axis, Expr size, Expr expr) {
  Dims dims = source;
  dims[axis] = size;
  std::vector<Expr> exprs = indices_of(dims);
  exprs[axis] = expr;
  return IndexMap(std::move(dims), source, std::move(exprs));
}

// The row-major position of `indices` in `dims`.
Expr row_major(std::span<const Expr> indices, std::span<const Expr> dims) {
  Expr position = 0;
  for (size_t k = 0; k < dims.size(); ++k) position = position * dims[k] + indices[k];
  return position;
}

// The index along each of `dims` of a row-major position: each dim by mod and division, innermost
// first, except the outermost, which is the remaining quotient.
std::vector<Expr> unravel(Expr position, std::span<const Expr> dims) {
  std::vector<Expr> indices(dims.size(), Expr(0));
  for (size_t k = dims.size(); k-- > 1;) {
    indices[k] = position % dims[k];
    position = position / dims[k];
  }
  if (!dims.empty()) indices[0] = position;
  return indices;
}

// One part of a reshape: source dims [source_begin, source_end) become view dims [begin, end).
struct ReshapeGroup {
  size_t source_begin, source_end, begin, end;
};

// Splits a reshape where the products of the leading dims (or the trailing dims themselves) are
// equal, so that dims which match one to one need no division.
std::vector<ReshapeGroup> reshape_groups(std::span<const Expr> source, std::span<const Expr> dims) {
  size_t source_end = source.size(), end = dims.size();
  std::vector<ReshapeGroup> groups;
  while (source_end > 0 && end > 0 && source[source_end - 1] == dims[end - 1]) {
    groups.push_back({source_end - 1, source_end, end - 1, end});
    --source_end;
    --end;
  }
  size_t source_begin = 0, begin = 0;
  Expr source_product = 1;
  for (size_t i = 0; i < source_end; ++i) {
    source_product = source_product * source[i];
    Expr product = 1;
    for (size_t j = 0; j < end; ++j) {
      product = product * dims[j];
      if (j < begin || product != source_product) continue;
      groups.push_back({source_begin, i + 1, begin, j + 1});
      source_begin = i + 1;
      begin = j + 1;
      break;
    }
  }
  if (source_begin < source_end || begin < end) {
    groups.push_back({source_begin, source_end, begin, end});
  }
  return groups;
}

// The positions of dims whose size isn't 1.
std::vector<size_t> wide_axes(const Dims& dims) {
  std::vector<size_t> axes;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (!dims[k].is(1)) axes.push_back(k);
  }
  return axes;
}

std::vector<Expr> pick(const std::vector<Expr>& from, const std::vector<size_t>& positions) {
  std::vector<Expr> picked;
  for (size_t k : positions) picked.push_back(from[k]);
  return picked;
}

}  // namespace

IndexMap::IndexMap(Dims dims, Dims source_dims, std::vector<Expr> exprs)
    : dims_(std::move(dims)), source_dims_(std::move(source_dims)), exprs_(std::move(exprs)) {
  LUMINAL_CHECK(
      exprs_.size() == source_dims_.size(),
      fmt::format("a map to {} has {} expressions", luminal::text(source_dims_), exprs_.size()));
}

IndexMap IndexMap::identity(const Dims& source) {
  return IndexMap(source, source, indices_of(source));
}

IndexMap IndexMap::permute(const Dims& source, std::span<const int> order) {
  LUMINAL_CHECK(order.size() == source.size(), "permute: the order and the source differ in rank");
  Dims dims;
  for (int axis : order) dims.push_back(source[checked_axis(source, axis, "permute")]);
  std::vector<Expr> exprs(source.size(), Expr(0));
  const std::vector<Expr> indices = indices_of(dims);
  for (size_t k = 0; k < order.size(); ++k) exprs[static_cast<size_t>(order[k])] = indices[k];
  return IndexMap(std::move(dims), source, std::move(exprs));
}

IndexMap IndexMap::expand(const Dims& source, const Dims& dims) {
  LUMINAL_CHECK(dims.size() == source.size(), "expand: the dims and the source differ in rank");
  std::vector<Expr> exprs = indices_of(dims);
  for (size_t k = 0; k < dims.size(); ++k) {
    LUMINAL_CHECK(source[k] == dims[k] || source[k].is(1),
                  fmt::format("expand: {} to {}", luminal::text(source), luminal::text(dims)));
    if (source[k].is(1)) exprs[k] = 0;
  }
  return IndexMap(dims, source, std::move(exprs));
}

IndexMap IndexMap::unsqueeze(const Dims& source, int axis) {
  LUMINAL_CHECK(axis >= 0 && static_cast<size_t>(axis) <= source.size(), "unsqueeze: axis");
  Dims dims = source;
  dims.insert(dims.begin() + axis, Expr(1));
  std::vector<Expr> exprs = indices_of(dims);
  exprs.erase(exprs.begin() + axis);
  return IndexMap(std::move(dims), source, std::move(exprs));
}

IndexMap IndexMap::squeeze(const Dims& source, int axis) {
  const size_t at = checked_axis(source, axis, "squeeze");
  LUMINAL_CHECK(source[at].is(1), "squeeze: the dim isn't 1");
  Dims dims = source;
  dims.erase(dims.begin() + axis);
  std::vector<Expr> exprs = indices_of(dims);
  exprs.insert(exprs.begin() + axis, Expr(0));
  return IndexMap(std::move(dims), source, std::move(exprs));
}

IndexMap IndexMap::slice(const Dims& source, int axis, Expr start, Expr size, Expr step) {
  const size_t at = checked_axis(source, axis, "slice");
  const Expr expr = size.is(0) ? Expr(0) : start + Expr::index(axis, size) * step;
  return with_axis(source, at, size, expr);
}

IndexMap IndexMap::flip(const Dims& source, int axis) {
  const size_t at = checked_axis(source, axis, "flip");
  return slice(source, axis, source[at] - 1, source[at], -1);
}

IndexMap IndexMap::pad(const Dims& source, int axis, Expr before, Expr size) {
  const size_t at = checked_axis(source, axis, "pad");
  const Expr shifted = Expr::index(axis, size) - before;
  // Avoids a division by zero if the dim is 0 at run time, as for a cache that is still empty.
  return with_axis(source, at, size, shifted % max(source[at], 1));
}

Expr IndexMap::pad_valid(const Dims& source, int axis, Expr before, Expr size) {
  const size_t at = checked_axis(source, axis, "pad");
  const Expr i = Expr::index(axis, size);
  return i >= before && i < before + source[at];
}

IndexMap IndexMap::merge(const Dims& source, int first, int count) {
  LUMINAL_CHECK(first >= 0 && count >= 0 && static_cast<size_t>(first + count) <= source.size(),
                fmt::format("merge: {} axes from {} of {}", count, first, luminal::text(source)));
  const auto begin = source.begin() + first, end = begin + count;
  const std::vector<Expr> merged(begin, end);
  Dims dims(source.begin(), begin);
  dims.push_back(n_elements(merged));
  dims.insert(dims.end(), end, source.end());
  if (has_no_elements(dims)) return all_zero(std::move(dims), source);
  std::vector<Expr> exprs = indices_of(dims);
  const std::vector<Expr> inner = unravel(exprs[static_cast<size_t>(first)], merged);
  exprs.erase(exprs.begin() + first);
  exprs.insert(exprs.begin() + first, inner.begin(), inner.end());
  return IndexMap(std::move(dims), source, std::move(exprs));
}

IndexMap IndexMap::split(const Dims& source, int axis, std::span<const Expr> factors) {
  const size_t at = checked_axis(source, axis, "split");
  Dims dims = source;
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, factors.begin(), factors.end());
  std::vector<Expr> exprs = indices_of(dims);
  const Expr position = row_major(std::span(exprs).subspan(at, factors.size()), factors);
  const auto begin = exprs.begin() + axis;
  exprs.erase(begin, begin + static_cast<ptrdiff_t>(factors.size()));
  exprs.insert(exprs.begin() + axis, position);
  return IndexMap(std::move(dims), source, std::move(exprs));
}

IndexMap IndexMap::windows(const Dims& source, int axis, Expr size, Expr step, Expr dilation) {
  const size_t at = checked_axis(source, axis, "windows");
  const Expr count = (source[at] - dilation * (size - 1) - 1) / step + 1;
  Dims dims = source;
  dims[at] = count;
  dims.push_back(size);
  std::vector<Expr> exprs = indices_of(dims);
  exprs[at] = exprs[at] * step + exprs.back() * dilation;
  exprs.pop_back();
  return IndexMap(std::move(dims), source, std::move(exprs));
}

IndexMap IndexMap::reshape(const Dims& source, const Dims& dims) {
  if (has_no_elements(source) || has_no_elements(dims)) return all_zero(dims, source);
  const std::vector<size_t> source_axes = wide_axes(source), axes = wide_axes(dims);
  const std::vector<Expr> source_wide = pick(source, source_axes), wide = pick(dims, axes);
  const std::vector<Expr> indices = pick(indices_of(dims), axes);
  std::vector<Expr> exprs(source.size(), Expr(0));
  for (const ReshapeGroup& g : reshape_groups(source_wide, wide)) {
    const Expr position = row_major(std::span(indices).subspan(g.begin, g.end - g.begin),
                                    std::span(wide).subspan(g.begin, g.end - g.begin));
    const std::vector<Expr> parts = unravel(
        position, std::span(source_wide).subspan(g.source_begin, g.source_end - g.source_begin));
    for (size_t k = 0; k < parts.size(); ++k) exprs[source_axes[g.source_begin + k]] = parts[k];
  }
  return IndexMap(dims, source, std::move(exprs));
}

IndexMap IndexMap::compose(const IndexMap& outer, const IndexMap& inner) {
  LUMINAL_CHECK(same_dims(outer.source_dims_, inner.dims_),
                fmt::format("compose: a view of {} on a view with dims {}",
                            luminal::text(outer.source_dims_), luminal::text(inner.dims_)));
  std::vector<Expr> exprs;
  exprs.reserve(inner.exprs_.size());
  for (Expr e : inner.exprs_) exprs.push_back(outer.apply(e));
  return IndexMap(outer.dims_, inner.source_dims_, std::move(exprs));
}

Expr IndexMap::apply(Expr over_source) const { return over_source.substitute_indices(exprs_); }

bool IndexMap::is_identity() const {
  return same_dims(dims_, source_dims_) && exprs_ == indices_of(dims_);
}

std::string IndexMap::text() const { return luminal::text(exprs_); }

std::string text(const Dims& dims) {
  std::string out = "[";
  for (size_t k = 0; k < dims.size(); ++k) {
    if (k > 0) out += ", ";
    out += dims[k].text();
  }
  return out + "]";
}

std::ostream& operator<<(std::ostream& out, const Dims& dims) { return out << text(dims); }

Expr n_elements(const Dims& dims) {
  Expr product = 1;
  for (Expr d : dims) product = product * d;
  return product;
}

std::vector<Expr> contiguous_strides(const Dims& dims) {
  std::vector<Expr> strides(dims.size(), Expr(1));
  for (size_t k = dims.size(); k-- > 1;) strides[k - 1] = strides[k] * dims[k];
  return strides;
}

bool same_dims(const Dims& a, const Dims& b) { return std::ranges::equal(a, b); }

}  // namespace luminal
