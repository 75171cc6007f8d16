#include "luminal/search/maps/gathered_product.h"

#include <algorithm>
#include <span>

#include "luminal/search/maps/nested_sums.h"

namespace luminal::search {
namespace {

bool uses(std::span<const Expr> exprs, size_t axis) {
  return std::ranges::any_of(exprs,
                             [&](Expr expr) { return expr.uses_index(static_cast<int>(axis)); });
}

}  // namespace

std::optional<GatheredProduct> multiply_before_gather(const IndexMap& rows, const IndexMap& weights,
                                                      const Dims& table) {
  const Dims& body = rows.dims();
  if (table.size() != 2 || body.empty() || rows.exprs().empty()) return std::nullopt;
  if (!same_dims(body, weights.dims())) return std::nullopt;
  const size_t k = body.size() - 1;
  const Expr summed = Expr::index(static_cast<int>(k), body[k]);
  const std::span<const Expr> picks = std::span(rows.exprs()).first(rows.exprs().size() - 1);
  if (rows.exprs().back() != summed || table[1] != body[k] || uses(picks, k)) return std::nullopt;

  // What the weights depend on follows the row in the dims of P.
  Dims inner = {table[0]};
  std::vector<Expr> result = {picks.begin(), picks.end()};
  std::vector<Expr> moved(body.size(), Expr(0));
  for (size_t axis = 0; axis < k; ++axis) {
    if (!uses(weights.exprs(), axis)) continue;
    if (uses(picks, axis)) return std::nullopt;
    moved[axis] = Expr::index(static_cast<int>(inner.size()), body[axis]);
    result.push_back(Expr::index(static_cast<int>(axis), body[axis]));
    inner.push_back(body[axis]);
  }
  const Dims of_rows(rows.source_dims().begin(), rows.source_dims().end() - 1);
  Dims gathered = of_rows;
  gathered.insert(gathered.end(), inner.begin() + 1, inner.end());
  moved[k] = Expr::index(static_cast<int>(inner.size()), body[k]);
  inner.push_back(body[k]);

  std::vector<Expr> of_weights;
  for (Expr expr : weights.exprs()) of_weights.push_back(expr.substitute_indices(moved));
  GatheredProduct product{
      .table = IndexMap(inner, table, {Expr::index(0, table[0]), moved[k]}),
      .weights = IndexMap(inner, weights.source_dims(), std::move(of_weights)),
      .result = IndexMap(Dims(body.begin(), body.end() - 1), gathered, std::move(result))};
  if (!has_elements(product.weights)) return std::nullopt;
  return product;
}

}  // namespace luminal::search
