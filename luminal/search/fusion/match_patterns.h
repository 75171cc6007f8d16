// One matcher per pattern: whether it ends at a node.
#pragma once

#include <optional>

#include "luminal/search/fusion/find_patterns.h"
#include "luminal/search/fusion/node_forms.h"

namespace luminal::search {

// silu(gate)·up, where gate and up are projections of one tensor, with or without a bias.
std::optional<PatternPlace> match_swiglu(const NodeForms& forms, NodeId at);

// (a + b) / √(mean (a + b)² + ε), with or without a weight, that projections read. The sum is part
// of the pattern only if nothing else reads it: a residual stream needs it again.
std::optional<PatternPlace> match_add_rms_norm(const NodeForms& forms, NodeId at);

}  // namespace luminal::search
