// find_patterns: finds the patterns of a graph whose fusion is decided separately.
//
// What a pattern is, rules say: rules/patterns.egg, over the terms of the graph. Labels don't
// matter, so a graph that was read from a file works as well as one that nn/ built.
#pragma once

#include <optional>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/search/fusion/fusion_pattern.h"
#include "luminal/search/terms/rule_set.h"

namespace luminal::search {

struct PatternPlace {
  FusionPattern pattern;
  NodeId at;                     // its result: the gated product, the normalised value
  std::vector<NodeId> interior;  // the values to be stored or fused, by id
  // Rows of the result, features of what is projected, and columns of the projections.
  Expr tokens = 1;
  Expr hidden = 1;
  Expr intermediate = 1;
  DType dtype = DType::F32;
};

// Its sizes with these values of variables; nullopt if they don't fit together.
std::optional<FusionShape> shape_of(const PatternPlace& place, const Bindings& sizes);

// In the order of their results' ids. Values that must be in memory anyway (`roots`) aren't listed.
// `more` are files of rules beside the embedded ones. UserError if one of them isn't valid, or
// finds a pattern that has no name.
std::vector<PatternPlace> find_patterns(const Graph& graph, const std::vector<NodeId>& roots,
                                        const std::vector<RuleText>& more = {});

}  // namespace luminal::search
