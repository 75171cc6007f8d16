// Explains equalities: extracts from the proof log what the equality of two terms rests on.
#pragma once

#include "luminal/egraph/explain/union_forest.h"
#include "luminal/egraph/explanation.h"
#include "luminal/egraph/saturate/engine.h"

#include <string>
#include <string_view>

namespace luminal::egraph {

// Both must be of the same equality sort. UserError if they aren't equal, if proofs weren't
// recorded, or if a rule on the way compares terms inside of containers, which isn't supported yet.
// The engine must be rebuilt, and the forest built from its log's unions after that.
Explanation explain(Engine& engine, const UnionForest& forest, Value a, Value b);

// A question as text: `TERM = TERM`. The terms are explained as written.
Explanation explain(Engine& engine, std::string_view question);

// Whether the steps follow from the engine's rules and commands, by `ProofChecker`.
ProofVerdict check(Engine& engine, const Explanation& explanation);

std::string explanation_text(const Database& database, const Explanation& explanation);
std::string explanation_json(const Database& database, const Explanation& explanation);

}  // namespace luminal::egraph
