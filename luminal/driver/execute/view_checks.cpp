#include "luminal/driver/execute/view_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "luminal/base/errors.h"
#include "luminal/shape/index/index_range.h"
#include "luminal/shape/index/resolve_dims.h"

namespace luminal {
namespace {

bool shows_nothing(const IndexMap& map, const Bindings& bindings) {
  return std::ranges::any_of(map.dims(), [&](Expr dim) {
    const Expr::Value size = dim.evaluate(bindings);
    return size.value && *size.value <= 0;
  });
}

}  // namespace

ViewChecks::ViewChecks(const Graph& graph) : graph_(graph) {
  std::set<std::vector<uint32_t>> seen;  // index, size and the dims it runs over
  for (uint32_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(NodeId{i});
    if (node.removed || node.op != Op::View) continue;
    const auto& map = node.as<IndexMap>();
    for (size_t axis = 0; axis < map.exprs().size(); ++axis) {
      const Expr index = map.exprs()[axis], size = map.source_dims()[axis];
      if (shape::known_inside(index, size)) continue;
      std::vector<uint32_t> key = {index.id(), size.id()};
      for (Expr dim : map.dims()) key.push_back(dim.id());
      if (seen.insert(std::move(key)).second) open_.push_back({NodeId{i}, axis});
    }
  }
}

void ViewChecks::check(const Bindings& bindings) const {
  for (const OpenIndex& open : open_) {
    const auto& map = graph_.node(open.view).as<IndexMap>();
    const Expr index = map.exprs()[open.axis], size = map.source_dims()[open.axis];
    const std::string why = shape::why_outside(index, size, bindings);
    if (why.empty() || shows_nothing(map, bindings)) continue;
    throw UserError(fmt::format(
        "run: {} reads outside axis {} of {}, which has {} elements at {}: {}; bind values that "
        "fit, or keep the index inside with min, max or %",
        graph_.describe(open.view), open.axis, text(map.source_dims()),
        size.evaluate(bindings).value.value_or(0), text(bindings), why));
  }
}

}  // namespace luminal
