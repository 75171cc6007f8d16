// Ids of the engine: a value of any sort has 32 bits, which are interpreted by its column's sort.
#pragma once

#include "luminal/base/ids.h"

namespace luminal::egraph {

// Equality sort: an id of the union-find. i64, f64, String: an id of `Constants`. Host sort:
// defined by the host. bool: 0 or 1. Unit: 0. 0xffffffff is no value.
using Value = Id<struct ValueTag>;

using SortId = Id<struct SortTag>;
using FunctionId = Id<struct FunctionTag>;
using PrimitiveId = Id<struct PrimitiveTag>;
using RulesetId = Id<struct RulesetTag>;

// Rules are numbered from 1; 0 stands for the host and for commands outside of rules.
using RuleId = Id<struct RuleTag>;
inline constexpr RuleId kInitial{0};

// The ruleset of rules that don't name one.
inline constexpr RulesetId kDefaultRuleset{0};

}  // namespace luminal::egraph
