// The rule that comes nearest to matching: what it lacks is often what is wrong.
#pragma once

#include <optional>
#include <string>

#include "luminal/search/inspect/inspection.h"

namespace luminal::search {

struct NearestRule {
  egraph::WhyNot why;
  NodeId node = {};  // of the graph, where it was tried
};

// Of all rules but `except`, the one that gets furthest at this value; nullopt if none begins to
// match.
std::optional<NearestRule> nearest_rule(Inspection& inspection, egraph::Value value,
                                        const std::string& except);

// Of all nodes of the graph, the one where this rule gets furthest: a match before a failed
// condition before a missing fact.
std::optional<NearestRule> nearest_place(Inspection& inspection, egraph::RuleId rule);

}  // namespace luminal::search
