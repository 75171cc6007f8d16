#include "luminal/rule_testing/rule_pattern.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "luminal/search/terms/terms.h"

namespace luminal::rule_testing {
namespace {

using Pattern = egraph::Expr;
using Kind = egraph::Expr::Kind;

bool mentions(const Pattern& pattern, const std::string& variable) {
  if (pattern.kind == Kind::Variable) return pattern.name == variable;
  return std::any_of(pattern.args.begin(), pattern.args.end(),
                     [&](const Pattern& arg) { return mentions(arg, variable); });
}

Pattern call(std::string name, std::vector<Pattern> args) {
  Pattern pattern;
  pattern.kind = Kind::Call;
  pattern.name = std::move(name);
  pattern.args = std::move(args);
  return pattern;
}

Pattern text(std::string value) {
  Pattern pattern;
  pattern.kind = Kind::String;
  pattern.name = std::move(value);
  return pattern;
}

// The term that a relation of rules/terms.egg states its first value to be.
std::optional<Pattern> stated_term(const Pattern& fact) {
  const std::vector<Pattern>& is = fact.args;
  const auto view = [&](size_t k) { return call("Reindex", {is[k], is[k + 1]}); };
  if (fact.name == "scaled-by-weights") return call("Mul", {is.at(1), view(2)});
  if (fact.name == "shifted-by-weights") return call("Add", {is.at(1), view(2)});
  if (fact.name == "product-by-weights") {
    return call("Reduce", {text("sum"), is.at(1), call("Mul", {view(2), view(4)})});
  }
  return std::nullopt;
}

}  // namespace

bool is_call_term(std::string_view name) {
  return name.size() == 5 && name.starts_with("Call") && name[4] >= '1' && name[4] <= '4';
}

bool is_term(const Pattern& pattern) {
  static const std::set<std::string, std::less<>> others = {
      "Const",   "Iota", "Reindex", "Reduce", "Scan", "Gather",
      "StoreAt", "Cast", "Bitcast", "Load",   "Store"};
  return pattern.kind == Kind::Call &&
         (search::elementwise_op(pattern.name).has_value() || others.contains(pattern.name) ||
          is_call_term(pattern.name));
}

RulePattern::RulePattern(const RuleInfo& rule) {
  Terms terms;  // with the variable that each defines
  for (const egraph::Fact& fact : rule.syntax.facts) {
    const Pattern* variable = nullptr;
    for (const Pattern& side : fact.sides) {
      if (side.kind == Kind::Variable) variable = &side;
    }
    for (const Pattern& side : fact.sides) read_side(side, variable, terms);
  }
  for (const auto& [variable, term] : terms) {
    const bool inside =
        !variable.empty() && std::any_of(terms.begin(), terms.end(), [&](const auto& other) {
          return other.second != term && mentions(*other.second, variable);
        });
    if (!inside) outermost.push_back(term);
  }
  if (outermost.empty() && asked.empty()) throw Untestable{"it matches no term of the language"};
}

void RulePattern::read_side(const Pattern& side, const Pattern* variable, Terms& terms) {
  if (is_term(side)) {
    if (variable == nullptr) {
      terms.emplace_back("", &side);
    } else {
      define(*variable, side, terms);
    }
    return;
  }
  if (side.kind == Kind::Call) {
    if (std::optional<Pattern> stated = stated_term(side)) {
      made_.push_back(std::move(*stated));
      define(side.args[0], made_.back(), terms);
      return;
    }
  }
  const bool asks = side.kind == Kind::Call && side.args.size() == 1 &&
                    side.args[0].kind == Kind::Variable &&
                    (side.name == "constant" || side.name == "type-of");
  if (!asks) return;
  asked.push_back(side.args[0].name);
  if (side.name == "constant") {
    constants[side.args[0].name] = variable == nullptr ? "" : variable->name;
  }
}

void RulePattern::define(const Pattern& variable, const Pattern& term, Terms& terms) {
  if (!definitions.emplace(variable.name, &term).second) {
    throw Untestable{"it needs two terms to be equal beforehand"};
  }
  terms.emplace_back(variable.name, &term);
}

}  // namespace luminal::rule_testing
