#include "luminal/search/fusion/find_patterns.h"

#include <algorithm>

#include "luminal/search/fusion/match_patterns.h"
#include "luminal/search/fusion/node_forms.h"

namespace luminal::search {
namespace {

using Matcher = std::optional<PatternPlace> (*)(const NodeForms& forms, NodeId at);

Matcher matcher_of(FusionPattern pattern) {
  switch (pattern) {
    case FusionPattern::SwiGlu:
      return match_swiglu;
    case FusionPattern::AddRmsNorm:
      return match_add_rms_norm;
  }
  return nullptr;
}

}  // namespace

std::optional<FusionShape> shape_of(const PatternPlace& place, const Bindings& sizes) {
  FusionShape shape{.dtype = place.dtype};
  const std::pair<Expr, int64_t*> parts[] = {{place.tokens, &shape.tokens},
                                             {place.hidden, &shape.hidden},
                                             {place.intermediate, &shape.intermediate}};
  for (const auto& [expr, number] : parts) {
    const std::optional<int64_t> value = expr.evaluate(sizes).value;
    if (!value || *value < 1) return std::nullopt;
    *number = *value;
  }
  return shape;
}

std::vector<PatternPlace> find_patterns(const Graph& graph, const std::vector<NodeId>& roots) {
  const NodeForms forms(graph, roots);
  std::vector<PatternPlace> places;
  for (NodeId id : forms.order()) {
    for (FusionPattern pattern : kFusionPatterns) {
      if (auto place = matcher_of(pattern)(forms, id)) places.push_back(std::move(*place));
    }
  }
  std::ranges::sort(places, {}, &PatternPlace::at);
  return places;
}

}  // namespace luminal::search
