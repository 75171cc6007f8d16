// RuleInstance: a small random graph that a rule's left side may match.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/graph/custom_op.h"
#include "luminal/graph/graph.h"
#include "luminal/rule_testing/random_values.h"
#include "luminal/search/terms/rule_set.h"

namespace luminal::rule_testing {

using search::RuleInfo;

using CustomOps = std::map<std::string, CustomOp>;  // by name, for rules that match them

struct RuleInstance {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::vector<NodeId> stores;  // values that the pattern wants a (Store v) of
  std::map<NodeId, TensorData> leaves;
  Bindings sizes;
};

// Follows the pattern from its outermost term inwards: dims, dtypes, maps and constants are random,
// what appears twice is shared. Whether guards hold is luck: the caller tries again. None where the
// random parts don't fit together. UserError where the pattern is beyond it, which says why.
std::optional<RuleInstance> make_instance(const RuleInfo& rule, const CustomOps& custom_ops,
                                          Random& random, Values values);

}  // namespace luminal::rule_testing
