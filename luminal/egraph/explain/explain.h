// Explaining equalities from the log of proofs: the part of it that two terms' equality rests on.
#pragma once

#include "luminal/egraph/explain/union_forest.h"
#include "luminal/egraph/explanation.h"
#include "luminal/egraph/saturate/engine.h"

#include <string>
#include <string_view>

namespace luminal::egraph {

// Both are of one equality sort. UserError where they aren't equal, where proofs weren't recorded,
// or where a rule on the way compares terms inside of containers, which isn't explained yet.
// The engine must be rebuilt, and the forest made of its log's unions since.
Explanation explain(Engine& engine, const UnionForest& forest, Value a, Value b);

// A question as text: `TERM = TERM`. The terms are explained as they are written.
Explanation explain(Engine& engine, std::string_view question);

// Whether the steps follow from the engine's rules and commands, by `ProofChecker`.
ProofVerdict check(Engine& engine, const Explanation& explanation);

std::string explanation_text(const Database& database, const Explanation& explanation);
std::string explanation_json(const Database& database, const Explanation& explanation);

}  // namespace luminal::egraph
