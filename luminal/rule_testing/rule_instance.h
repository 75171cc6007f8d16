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

// Whether a rule is about reductions of products, which it may reduce in another order.
bool reorders_sums(const RuleInfo& rule);
// Whether a rule asks what depends on weights alone. All leaves of its instances do.
bool folds_weights(const RuleInfo& rule);
// Whether a rule is about convolutions alone.
bool convolves(const RuleInfo& rule);

using CustomOps = std::map<std::string, CustomOp>;  // by name, for rules that match them

struct RuleInstance {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::vector<NodeId> stores;  // values of which the pattern has a (Store v)
  std::map<NodeId, TensorData> leaves;
  Bindings sizes;
};

// Follows the pattern from its outermost term inwards: dims, dtypes, maps and constants are random,
// and what appears twice is shared. Guards hold by chance: the caller tries again. nullopt if the
// random parts don't fit together. UserError, with the reason, if no instance of the pattern can be
// made.
std::optional<RuleInstance> make_instance(const RuleInfo& rule, const CustomOps& custom_ops,
                                          Random& random, Values values);

}  // namespace luminal::rule_testing
