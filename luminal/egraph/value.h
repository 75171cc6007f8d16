// The ids of the engine: a value of any sort is 32 bits, and its column's sort says how to read it.
#pragma once

#include "luminal/base/ids.h"

namespace luminal::egraph {

// Of an equality sort: an id of the union-find. Of i64, f64 and String: an id of `Constants`. Of a
// host sort: what the host says. Of bool: 0 or 1; of Unit: 0. 0xffffffff is no value.
using Value = Id<struct ValueTag>;

using SortId = Id<struct SortTag>;
using FunctionId = Id<struct FunctionTag>;
using PrimitiveId = Id<struct PrimitiveTag>;
using RulesetId = Id<struct RulesetTag>;

// Rules count from 1: 0 stands for what no rule did, the host and commands outside of rules.
using RuleId = Id<struct RuleTag>;
inline constexpr RuleId kInitial{0};

// The ruleset of rules that name none.
inline constexpr RulesetId kDefaultRuleset{0};

}  // namespace luminal::egraph
