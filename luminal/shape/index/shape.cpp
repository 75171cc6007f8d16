// Shape: checks the user's arguments of a view, then composes index maps.
#include "luminal/shape/shape.h"

#include "luminal/base/errors.h"
#include "luminal/shape/expr/expr_linear.h"

#include <fmt/format.h>

#include <algorithm>

namespace luminal {
namespace {

[[noreturn]] void fail(std::string_view op, const std::string& message) {
  throw UserError(fmt::format("{}: {}", op, message));
}

void check_dims(std::string_view op, const Dims& dims) {
  if (dims.size() > static_cast<size_t>(Shape::kMaxRank)) {
    fail(op, fmt::format("{} has {} dims; at most {} are supported, merge some", text(dims),
                         dims.size(), Shape::kMaxRank));
  }
  for (Expr d : dims) {
    if (d.upper_bound() < 0) {
      fail(op, fmt::format("{} has a negative dim; sizes start at 0", text(dims)));
    }
    if (d.uses_indices()) {
      fail(op, fmt::format("{} has a dim that depends on an index; use variables", text(dims)));
    }
  }
}

// An axis of `dims`, counted from the end when negative; `extra` more positions are allowed.
int resolve_axis(std::string_view op, const Dims& dims, int axis, int extra = 0) {
  const int rank = static_cast<int>(dims.size()) + extra;
  const int resolved = axis < 0 ? axis + rank : axis;
  if (resolved < 0 || resolved >= rank) {
    if (rank == 0) fail(op, fmt::format("axis {} of a scalar, which has none", axis));
    fail(op, fmt::format("axis {} is not in {}; use {} … {}", axis, text(dims), -rank, rank - 1));
  }
  return resolved;
}

bool known_negative(Expr e) { return e.upper_bound() < 0; }

// "axis 1 of size 3 in [2, 3]"
std::string place(int axis, const Dims& dims) {
  return fmt::format("axis {} of size {} in {}", axis, dims[static_cast<size_t>(axis)].text(),
                     text(dims));
}

// The elements of a slice: from `start` on, `size` of them.
struct Range {
  Expr start, size;
};

// A negative constant counts from the end.
Expr from_end(Expr position, Expr n) {
  const auto value = position.to_int();
  return value && *value < 0 ? position + n : position;
}

Range forward_range(Expr start, Expr stop, Expr step, int axis, const Dims& dims) {
  const Expr n = dims[static_cast<size_t>(axis)];
  const auto where = [&] { return place(axis, dims); };
  const Expr first = from_end(start, n), end = from_end(stop, n);
  if (known_negative(first)) {
    fail("slice", fmt::format("start {} is before the beginning of {}; use a start of at least -{}",
                              start.text(), where(), n.text()));
  }
  if (known_less(n, first)) {
    fail("slice", fmt::format("start {} is past the end of {}; use a start of at most {}",
                              start.text(), where(), n.text()));
  }
  if (known_less(n, end)) {
    fail("slice", fmt::format("stop {} is past the end of {}; use a stop of at most {}",
                              stop.text(), where(), n.text()));
  }
  if (known_less(end, first)) {
    fail("slice", fmt::format("stop {} is before start {} on {}; swap them, or use a negative step",
                              stop.text(), start.text(), where()));
  }
  return {first, ceil_div(end - first, step)};
}

// A slice with a negative step; `stop` is excluded, and -n - 1 is before the first element.
Range backward_range(Expr start, Expr stop, Expr step, int axis, const Dims& dims) {
  const Expr n = dims[static_cast<size_t>(axis)];
  const auto where = [&] { return place(axis, dims); };
  const Expr first = from_end(start, n), end = from_end(stop, n);
  if (known_less_equal(n, first) && !(n == first && first == end)) {
    fail("slice", fmt::format("start {} is past the last element of {}; with a negative step use a "
                              "start of at most {}",
                              start.text(), where(), (n - 1).text()));
  }
  if (known_less(end, -1)) {
    fail("slice", fmt::format("stop {} is before the beginning of {}; with a negative step, {} "
                              "takes all down to the first element",
                              stop.text(), where(), (-n - 1).text()));
  }
  if (known_less(first, end)) {
    fail("slice",
         fmt::format("stop {} is after start {} on {}, and the step is negative; swap them",
                     stop.text(), start.text(), where()));
  }
  return {first, ceil_div(first - end, -step)};
}

// The strides of an affine index Σ stride · i + offset; none if the index isn't affine.
std::optional<std::vector<Expr>> affine_coefficients(Expr index, size_t rank) {
  std::vector<Expr> strides(rank, Expr(0));
  const shape::Linear linear = shape::to_linear(index);
  for (const shape::Term& term : linear.terms) {
    if (!term.atom.uses_indices()) continue;
    int axis = -1;
    Expr stride = term.coefficient;
    for (Expr factor : shape::factors_of(term.atom)) {
      if (!factor.uses_indices()) {
        stride = stride * factor;
      } else if (factor.kind() == ExprKind::Index && axis < 0) {
        axis = factor.axis();
      } else {
        return std::nullopt;
      }
    }
    Expr& sum = strides[static_cast<size_t>(axis)];
    sum = sum + stride;
  }
  return strides;
}

// One past the highest position that the strides reach; 0 if there are no elements.
Expr reach(const Dims& dims, const std::vector<Expr>& strides, Expr offset) {
  Expr last = offset;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (dims[k].is(0)) return 0;
    if (strides[k].upper_bound() <= 0) continue;
    const Expr step = (dims[k] - 1) * strides[k];
    last = last + (strides[k].lower_bound() >= 0 ? step : max(step, 0));
  }
  const Expr end = last + 1;
  return known_less_equal(0, end) ? end : max(end, 0);
}

// The lowest position that the strides reach; none if the sign of a stride is unknown.
std::optional<Expr> lowest(const Dims& dims, const std::vector<Expr>& strides, Expr offset) {
  for (size_t k = 0; k < dims.size(); ++k) {
    if (dims[k].is(0)) return std::nullopt;
    if (strides[k].lower_bound() >= 0) continue;
    if (strides[k].upper_bound() > 0) return std::nullopt;
    offset = offset + (dims[k] - 1) * strides[k];
  }
  return offset;
}

[[noreturn]] void sizes_differ(std::string_view op, Expr have, Expr want, const std::string& from,
                               const std::string& to) {
  if (have.variables().empty() && want.variables().empty()) {
    fail(op, fmt::format("{} has {} elements, {} has {}; they must be equal", from, have.text(), to,
                         want.text()));
  }
  fail(op,
       fmt::format("{} has {} elements, {} has {}, which isn't known to be equal; write one dim "
                   "in terms of the other, as in [4 * t] to [t, 4]",
                   from, have.text(), to, want.text()));
}

}  // namespace

Shape::Shape() : Shape(Dims{}) {}

Shape::Shape(Dims dims)
    : map_(IndexMap::identity(dims)), strides_(contiguous_strides(dims)), offset_(0), valid_(1) {
  check_dims("shape", dims);
}

Shape::Shape(IndexMap map, std::vector<Expr> strides, Expr offset, Expr valid)
    : map_(std::move(map)), strides_(std::move(strides)), offset_(offset), valid_(valid) {}

Shape Shape::strided(Dims dims, std::vector<Expr> strides, Expr offset) {
  check_dims("strided", dims);
  if (dims.size() != strides.size()) {
    fail("strided", fmt::format("{} has {} dims and {} strides; give one stride per dim",
                                luminal::text(dims), dims.size(), strides.size()));
  }
  const auto low = lowest(dims, strides, offset);
  if (low && known_negative(*low)) {
    fail("strided",
         fmt::format("{} with strides {} and offset {} reaches position {}; use a larger "
                     "offset",
                     luminal::text(dims), luminal::text(strides), offset.text(), low->text()));
  }
  return Shape(IndexMap::identity(dims), std::move(strides), offset, 1);
}

Shape Shape::view(const IndexMap& map) const {
  check_dims("view", map.dims());
  return Shape(IndexMap::compose(map, map_), strides_, offset_, map.apply(valid_));
}

Expr Shape::dim(int axis) const {
  return dims()[static_cast<size_t>(resolve_axis("dim", dims(), axis))];
}

Expr Shape::index() const {
  Expr position = offset_;
  for (size_t k = 0; k < strides_.size(); ++k) position = position + map_.exprs()[k] * strides_[k];
  return position;
}

std::optional<std::vector<Expr>> Shape::strides() const {
  auto strides = affine_coefficients(index(), dims().size());
  if (!strides) return std::nullopt;
  // The index of a dim of size 1 (or 0) is always 0; its stride is what a contiguous one would be.
  for (size_t k = strides->size(); k-- > 0;) {
    if (!dims()[k].is(1) && !dims()[k].is(0)) continue;
    const bool last = k + 1 == strides->size();
    (*strides)[k] = last ? Expr(1) : (*strides)[k + 1] * max(dims()[k + 1], 1);
  }
  return strides;
}

Expr Shape::offset() const {
  return index().substitute_indices(std::vector<Expr>(dims().size(), Expr(0)));
}

Shape Shape::permute(std::span<const int> order) const {
  std::vector<int> resolved;
  std::vector<bool> seen(dims().size());
  for (int axis : order) {
    resolved.push_back(resolve_axis("permute", dims(), axis));
    const size_t at = static_cast<size_t>(resolved.back());
    if (seen[at]) fail("permute", fmt::format("axis {} is named twice; name each axis once", axis));
    seen[at] = true;
  }
  if (resolved.size() != dims().size()) {
    fail("permute", fmt::format("{} axes are given for {}; name each axis once", order.size(),
                                luminal::text(dims())));
  }
  return view(IndexMap::permute(dims(), resolved));
}

Shape Shape::permute(std::initializer_list<int> order) const {
  return permute(std::span(order.begin(), order.size()));
}

Shape Shape::expand(const Dims& new_dims) const {
  if (new_dims.size() != dims().size()) {
    fail("expand", fmt::format("{} has {} dims, {} has {}; unsqueeze first", luminal::text(dims()),
                               dims().size(), luminal::text(new_dims), new_dims.size()));
  }
  for (size_t k = 0; k < new_dims.size(); ++k) {
    if (dims()[k] == new_dims[k] || dims()[k].is(1)) continue;
    fail("expand", fmt::format("axis {} of {} can't become {}; only dims of size 1 repeat", k,
                               luminal::text(dims()), new_dims[k].text()));
  }
  return view(IndexMap::expand(dims(), new_dims));
}

Shape Shape::unsqueeze(int axis) const {
  return view(IndexMap::unsqueeze(dims(), resolve_axis("unsqueeze", dims(), axis, 1)));
}

Shape Shape::squeeze(int axis) const {
  const int at = resolve_axis("squeeze", dims(), axis);
  if (!dims()[static_cast<size_t>(at)].is(1)) {
    fail("squeeze", fmt::format("{} is not of size 1; slice it first", place(at, dims())));
  }
  return view(IndexMap::squeeze(dims(), at));
}

Shape Shape::slice(int axis, Expr start, Expr stop, Expr step) const {
  const int at = resolve_axis("slice", dims(), axis);
  const bool backward = step.upper_bound() < 0;
  if (step.is(0) || (!backward && step.lower_bound() < 0)) {
    fail("slice", fmt::format("step {} on {} is zero or of unknown sign; use a positive or a "
                              "negative one",
                              step.text(), place(at, dims())));
  }
  const Range range = backward ? backward_range(start, stop, step, at, dims())
                               : forward_range(start, stop, step, at, dims());
  return view(IndexMap::slice(dims(), at, range.start, range.size, step));
}

Shape Shape::flip(int axis) const {
  return view(IndexMap::flip(dims(), resolve_axis("flip", dims(), axis)));
}

Shape Shape::pad(int axis, Expr before, Expr after) const {
  const int at = resolve_axis("pad", dims(), axis);
  if (known_negative(before) || known_negative(after)) {
    fail("pad",
         fmt::format("{} before and {} after {}: padding must not be negative; use slice to cut",
                     before.text(), after.text(), place(at, dims())));
  }
  const Expr size = before + dims()[static_cast<size_t>(at)] + after;
  const Expr inside = IndexMap::pad_valid(dims(), at, before, size);
  Shape padded = view(IndexMap::pad(dims(), at, before, size));
  padded.valid_ = padded.valid_ && inside;
  return padded;
}

Shape Shape::merge(int first, int count) const {
  const int at = resolve_axis("merge", dims(), first);
  if (count < 1 || at + count > rank()) {
    fail("merge", fmt::format("{} axes from axis {} on don't lie in {}; use 1 … {}", count, at,
                              luminal::text(dims()), rank() - at));
  }
  return view(IndexMap::merge(dims(), at, count));
}

Shape Shape::split(int axis, std::span<const Expr> factors) const {
  const int at = resolve_axis("split", dims(), axis);
  const Dims parts(factors.begin(), factors.end());
  if (parts.empty()) fail("split", "no factors; give at least one");
  check_dims("split", parts);
  const Expr have = dims()[static_cast<size_t>(at)], want = luminal::n_elements(parts);
  if (have != want) sizes_differ("split", have, want, place(at, dims()), luminal::text(parts));
  return view(IndexMap::split(dims(), at, factors));
}

Shape Shape::split(int axis, std::initializer_list<Expr> factors) const {
  return split(axis, std::span(factors.begin(), factors.size()));
}

Shape Shape::windows(int axis, Expr size, Expr step, Expr dilation) const {
  const int at = resolve_axis("windows", dims(), axis);
  const Expr n = dims()[static_cast<size_t>(at)];
  if (size.upper_bound() < 1 || step.upper_bound() < 1 || dilation.upper_bound() < 1) {
    fail("windows", fmt::format("size {}, step {} and dilation {} on {} must all be at least 1",
                                size.text(), step.text(), dilation.text(), place(at, dims())));
  }
  const Expr span = dilation * (size - 1) + 1;
  if (known_less(n, span)) {
    fail("windows", fmt::format("a window spans {} elements, more than {}; pad the axis or use a "
                                "smaller window",
                                span.text(), place(at, dims())));
  }
  return view(IndexMap::windows(dims(), at, size, step, dilation));
}

Shape Shape::reshape(const Dims& new_dims) const {
  check_dims("reshape", new_dims);
  const Expr have = n_elements(), want = luminal::n_elements(new_dims);
  if (have != want) {
    sizes_differ("reshape", have, want, luminal::text(dims()), luminal::text(new_dims));
  }
  return view(IndexMap::reshape(dims(), new_dims));
}

bool Shape::is_contiguous() const {
  if (n_elements().is(0)) return true;
  return !is_padded() && index() == Shape(dims()).index();
}

bool Shape::is_padded() const { return !valid_.is(1); }

Expr Shape::n_elements() const { return luminal::n_elements(dims()); }

Expr Shape::n_physical_elements() const {
  if (n_elements().is(0)) return 0;
  const Expr position = index();
  if (const auto strides = affine_coefficients(position, dims().size())) {
    return reach(dims(), *strides, offset());
  }
  return reach(map_.source_dims(), strides_, offset_);
}

Shape Shape::resolve(const Bindings& bindings) const {
  const auto bind_all = [&](const std::vector<Expr>& exprs) {
    std::vector<Expr> bound;
    for (Expr e : exprs) bound.push_back(e.bind(bindings));
    return bound;
  };
  Dims new_dims = bind_all(map_.dims());
  check_dims("resolve", new_dims);
  IndexMap map(std::move(new_dims), bind_all(map_.source_dims()), bind_all(map_.exprs()));
  return Shape(std::move(map), bind_all(strides_), offset_.bind(bindings), valid_.bind(bindings));
}

std::string Shape::text() const {
  std::string out = luminal::text(dims());
  if (const auto s = strides()) {
    out += " strides " + luminal::text(*s);
    if (!offset().is(0)) out += " offset " + offset().text();
  } else {
    out += " index " + index().text();
  }
  if (is_padded()) out += " where " + valid_.text();
  return out;
}

}  // namespace luminal
