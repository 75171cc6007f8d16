#include "luminal/search/maps/nested_sums.h"

#include <algorithm>

namespace luminal::search {
namespace {

constexpr int64_t kLargestVariable = 4096;  // a variable without a bound counts as this much

// The elements of dims, with variables at their bounds.
double least_elements(const Dims& dims) {
  double count = 1;
  for (Expr dim : dims) count *= static_cast<double>(std::max<int64_t>(dim.lower_bound(), 1));
  return count;
}
double most_elements(const Dims& dims) {
  double count = 1;
  for (Expr dim : dims) {
    const std::optional<int64_t> size = dim.to_int();
    count *= static_cast<double>(size ? *size : std::min(dim.upper_bound(), kLargestVariable));
  }
  return count;
}

Dims joined(Dims dims, std::initializer_list<Expr> more) {
  dims.insert(dims.end(), more);
  return dims;
}

std::vector<Expr> substituted(const std::vector<Expr>& exprs, const std::vector<Expr>& by) {
  std::vector<Expr> result;
  result.reserve(exprs.size());
  for (Expr expr : exprs) result.push_back(expr.substitute_indices(by));
  return result;
}

bool any_uses(const std::vector<Expr>& exprs, int axis) {
  return std::ranges::any_of(exprs, [&](Expr expr) { return expr.uses_index(axis); });
}

}  // namespace

bool has_elements(const IndexMap& map) {
  for (size_t d = 0; d < map.source_dims().size(); ++d) {
    const Expr extent = map.source_dims()[d];
    bool fine = extent.lower_bound() >= 1;
    for (size_t axis = 0; !fine && axis < map.dims().size(); ++axis) {
      fine = map.dims()[axis] == extent &&
             map.exprs()[d] == Expr::index(static_cast<int>(axis), extent);
    }
    if (!fine) return false;
  }
  return true;
}

std::optional<ExchangedSums> exchange_sums(const NestedSums& nested) {
  const auto& [sum, left, right, other] = nested;
  const Dims& body = sum.dims();  // of the outer sum: the result's dims, and j
  if (body.empty() || !same_dims(body, other.dims())) return std::nullopt;
  if (!same_dims(left.dims(), right.dims()) || left.dims().empty()) return std::nullopt;
  const Expr summed_inside = left.dims().back(), summed = body.back();
  if (!same_dims(left.dims(), joined(sum.source_dims(), {summed_inside}))) return std::nullopt;

  // All over one space: the body's axes, then k.
  const int j = static_cast<int>(body.size()) - 1, k = j + 1;
  const std::vector<Expr> into_space = joined(sum.exprs(), {Expr::index(k, summed_inside)});
  const std::vector<Expr> left_at = substituted(left.exprs(), into_space);
  const std::vector<Expr> right_at = substituted(right.exprs(), into_space);
  if (any_uses(left_at, j)) return std::nullopt;

  // The dims of the new inner sum: what its factors depend on, and k.
  const Dims result(body.begin(), body.end() - 1);
  Dims inner;
  std::vector<Expr> inner_at, to_inner(body.size() + 1, Expr(0));
  for (int axis = 0; axis < j; ++axis) {
    if (!any_uses(right_at, axis) && !any_uses(other.exprs(), axis)) continue;
    const Expr extent = body[static_cast<size_t>(axis)];
    to_inner[static_cast<size_t>(axis)] = Expr::index(static_cast<int>(inner.size()), extent);
    inner_at.push_back(Expr::index(axis, extent));
    inner.push_back(extent);
  }
  const auto inner_rank = static_cast<int>(inner.size());
  to_inner[static_cast<size_t>(k)] = Expr::index(inner_rank, summed_inside);
  to_inner[static_cast<size_t>(j)] = Expr::index(inner_rank + 1, summed);
  inner_at.push_back(Expr::index(j, summed_inside));
  inner.push_back(summed_inside);

  const Dims inner_body = joined(inner, {summed}), outer_body = joined(result, {summed_inside});
  std::vector<Expr> to_outer(body.size() + 1, Expr(0));
  for (int axis = 0; axis < j; ++axis) {
    to_outer[static_cast<size_t>(axis)] = Expr::index(axis, body[static_cast<size_t>(axis)]);
  }
  to_outer[static_cast<size_t>(k)] = Expr::index(j, summed_inside);
  ExchangedSums exchanged{
      .left = IndexMap(outer_body, left.source_dims(), substituted(left_at, to_outer)),
      .inner = IndexMap(outer_body, inner, inner_at),
      .right = IndexMap(inner_body, right.source_dims(), substituted(right_at, to_inner)),
      .other = IndexMap(inner_body, other.source_dims(), substituted(other.exprs(), to_inner))};
  if (!has_elements(exchanged.left) || !has_elements(exchanged.right) ||
      !has_elements(exchanged.other)) {
    return std::nullopt;
  }
  return exchanged;
}

bool multiplies_less(const NestedSums& nested, const ExchangedSums& exchanged) {
  const auto less = [&](double (*elements)(const Dims&)) {
    return elements(exchanged.right.dims()) + elements(exchanged.left.dims()) <
           elements(nested.left.dims()) + elements(nested.sum.dims());
  };
  return less(least_elements) || less(most_elements);
}

std::optional<IndexMap> leave_sum(const IndexMap& factor) {
  const int last = static_cast<int>(factor.dims().size()) - 1;
  if (last < 0 || factor.dims().back().is(1) || any_uses(factor.exprs(), last)) return std::nullopt;
  IndexMap left(Dims(factor.dims().begin(), factor.dims().end() - 1), factor.source_dims(),
                factor.exprs());
  if (!has_elements(left)) return std::nullopt;
  return left;
}

}  // namespace luminal::search
