#include "luminal/search/maps/view_behind.h"

#include <algorithm>

#include "luminal/search/maps/nested_sums.h"

namespace luminal::search {
namespace {

// The dim of the view's source that is read at an axis of the view's dims, as an index; nullopt if
// no dim follows that axis alone.
std::optional<Expr> behind(const IndexMap& front, size_t axis) {
  const Expr extent = front.dims()[axis];
  if (extent.is(1)) return Expr(0);
  const Expr index = Expr::index(static_cast<int>(axis), extent);
  for (size_t d = 0; d < front.exprs().size(); ++d) {
    if (front.exprs()[d] == index && front.source_dims()[d] == extent) {
      return Expr::index(static_cast<int>(d), extent);
    }
  }
  return std::nullopt;
}

bool uses(const IndexMap& map, size_t axis) {
  return std::ranges::any_of(map.exprs(),
                             [&](Expr expr) { return expr.uses_index(static_cast<int>(axis)); });
}

}  // namespace

std::optional<IndexMap> view_behind(const IndexMap& front, const IndexMap& whole) {
  const size_t rank = whole.dims().size();
  if (front.dims().size() < rank || front.dims().size() > rank + 1) return std::nullopt;
  if (!std::equal(whole.dims().begin(), whole.dims().end(), front.dims().begin())) {
    return std::nullopt;
  }
  std::vector<Expr> indices(rank, Expr(0));
  for (size_t axis = 0; axis < rank; ++axis) {
    if (!uses(whole, axis)) continue;
    const std::optional<Expr> index = behind(front, axis);
    if (!index) return std::nullopt;
    indices[axis] = *index;
  }
  std::vector<Expr> exprs;
  for (Expr expr : whole.exprs()) exprs.push_back(expr.substitute_indices(indices));
  IndexMap result(front.source_dims(), whole.source_dims(), std::move(exprs));
  if (!has_elements(result)) return std::nullopt;
  return result;
}

}  // namespace luminal::search
