// test_rules: tests every rule on random instances, left side against right side by the
// interpreter, to the extent of its numeric guarantee.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "luminal/rule_testing/rule_instance.h"

namespace luminal::rule_testing {

using search::RuleClass;
using search::RuleInfo;
using search::RuleSet;

struct RuleTestOptions {
  int instances = 50;         // that fire, per rule
  uint64_t seed = 1;          // each rule has a sequence of its own: others don't change it
  CustomOps custom_ops = {};  // for rules that match them
};

struct RuleTestResult {
  std::string rule;
  RuleClass numeric_class = RuleClass::Exact;
  int fired = 0;    // instances on which the rule fired and kept its guarantee
  int tries = 0;    // instances that were made
  std::string why;  // empty: it holds; else where it doesn't, or that it never fired
};

RuleTestResult test_rule(const RuleSet& rules, const RuleInfo& rule,
                         const RuleTestOptions& options = {});
// All of them, or those of one file.
std::vector<RuleTestResult> test_rules(const RuleSet& rules, const RuleTestOptions& options = {},
                                       const std::string& file = {});

}  // namespace luminal::rule_testing
