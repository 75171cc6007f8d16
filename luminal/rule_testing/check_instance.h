// check_instance: whether a rule keeps its numeric guarantee on one instance, by the interpreter.
#pragma once

#include <string>

#include "luminal/rule_testing/rule_instance.h"
#include "luminal/search/terms/terms.h"

namespace luminal::rule_testing {

using search::RuleInfo;
using search::Terms;

struct Verdict {
  enum class Kind : uint8_t {
    NotFired,  // no match: the instance says nothing
    Outside,   // it overflows, or has NaN or Inf where the rule assumes none
    Holds,
    Differs,
  };
  Kind kind = Kind::NotFired;
  std::string text = {};  // of Differs: what, where and by how much
};

// `terms` holds the facts and the rule alone; the instance's terms are added to it.
//
// Each class has the value of a node of the instance's graph, or of its first term. Every term that
// the rule made must compute the value of its class from the values of its parts, every node of the
// graph that the rule joined with another must have its value, and every fact must be true.
Verdict check_instance(const RuleInstance& instance, const RuleInfo& rule, Terms& terms);

}  // namespace luminal::rule_testing
