// find_patterns: where a graph holds a pattern of which fusing is a question.
//
// Patterns are told by their ops alone, as composites and layers build them: no label counts, so a
// graph that was read from a file is as good as one that nn/ built.
#pragma once

#include <optional>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/search/fusion/fusion_pattern.h"

namespace luminal::search {

struct PatternPlace {
  FusionPattern pattern;
  NodeId at;                     // its result: the gated product, the normalised value
  std::vector<NodeId> interior;  // the values that are asked about
  // Rows of the result, features of what is projected, and columns of the projections.
  Expr tokens = 1;
  Expr hidden = 1;
  Expr intermediate = 1;
  DType dtype = DType::F32;
};

// Its sizes where variables have these values; none where they don't fit together.
std::optional<FusionShape> shape_of(const PatternPlace& place, const Bindings& sizes);

// In the order of their results' ids. What must be in memory at the end anyway (`roots`) is no
// question and isn't listed.
std::vector<PatternPlace> find_patterns(const Graph& graph, const std::vector<NodeId>& roots);

}  // namespace luminal::search
