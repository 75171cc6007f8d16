// diagnose: what is wrong with a compile, from its first cause on.
#pragma once

#include <vector>

#include "luminal/search/inspect/finding.h"
#include "luminal/search/inspect/inspection.h"

namespace luminal::search {

// One finding per cause, those that prevent a plan first. The field `cause` is one of
//   wrong-arity        a rule gives a constructor another number of arguments than it has
//   rule-refused       a rule file can't be read for another reason
//   rule-failed        a rule stopped saturation
//   missing-lowering   an op has no term that a kernel computes
//   cyclic             an op has only terms that need its own value
//   missing-dtype      nothing says a value's type
//   joined-types       a rule made values of different types equal
//   wrong-term         a rule made a term that no primitive takes
//   over-limits        an op on its own is more than a kernel may hold
//   no-plan            there is none, for another reason
//   rule-off           a rule of the user's doesn't run: its group or class isn't admitted
//   guard-never-holds  a rule of the user's finds its pattern, and its condition fails everywhere
//   rule-unmatched     a rule of the user's finds its pattern nowhere
// The others say where: `op`, `rule`, `nearest_rule`, `guard`, `term`, `why`, `way_out`.
std::vector<Finding> diagnose(Inspection& inspection);

// On one line, for an error message: the op, the nearest rule and the condition that failed.
std::string summary(const std::vector<Finding>& causes);

}  // namespace luminal::search
