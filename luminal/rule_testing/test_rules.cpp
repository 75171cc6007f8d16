#include "luminal/rule_testing/test_rules.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"
#include "luminal/base/hash.h"
#include "luminal/rule_testing/check_instance.h"

namespace luminal::rule_testing {
namespace {

// Guards that hold once in this many tries still get enough instances.
constexpr int kTriesPerInstance = 400;
constexpr int kTriesWithoutLuck = 20'000;

// A class is only tested on values for which it guarantees something.
Values values_for(RuleClass numeric_class, Random& random) {
  switch (numeric_class) {
    case RuleClass::Exact:
      return Values::All;
    case RuleClass::Reassociating:
      return Values::Moderate;
    case RuleClass::Finite:
    case RuleClass::Approximate:
      break;
  }
  return random.one_in(2) ? Values::Finite : Values::Positive;
}

}  // namespace

RuleTestResult test_rule(const RuleSet& rules, const RuleInfo& rule,
                         const RuleTestOptions& options) {
  RuleTestResult result{rule.name, rule.numeric_class, 0, 0, ""};
  Random random(base::hash(rule.name) + options.seed);
  Terms terms(rules, &rule);
  const egraph::EGraph empty = terms.egraph;
  while (result.fired < options.instances) {
    const bool unlucky = result.fired == 0 && result.tries >= kTriesWithoutLuck;
    if (unlucky || result.tries >= kTriesPerInstance * options.instances) {
      result.why = fmt::format(
          "{} of {} random instances made it fire, but {} are needed; check that its guards can "
          "hold, and that operands of commutative ops are in an order they can have",
          result.fired, result.tries, options.instances);
      return result;
    }
    ++result.tries;
    const Values values = values_for(rule.numeric_class, random);
    std::optional<RuleInstance> instance;
    try {
      instance = make_instance(rule, options.custom_ops, random, values);
    } catch (const UserError& error) {
      result.why = error.what();
      return result;
    }
    if (!instance) continue;
    terms.egraph = empty;
    const Verdict verdict = check_instance(*instance, rule, terms);
    if (verdict.kind == Verdict::Kind::Holds) ++result.fired;
    if (verdict.kind == Verdict::Kind::Differs) {
      result.why =
          fmt::format("rule '{}' of class {} does not hold (try {} of seed {}): {}", rule.name,
                      name(rule.numeric_class), result.tries, options.seed, verdict.text);
      return result;
    }
  }
  return result;
}

std::vector<RuleTestResult> test_rules(const RuleSet& rules, const RuleTestOptions& options,
                                       const std::string& file) {
  std::vector<RuleTestResult> results;
  for (const RuleInfo& rule : rules.rules()) {
    if (file.empty() || rule.file == file) results.push_back(test_rule(rules, rule, options));
  }
  return results;
}

}  // namespace luminal::rule_testing
