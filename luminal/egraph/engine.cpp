#include "luminal/egraph/engine.h"

#include "luminal/base/errors.h"

#include <utility>

namespace luminal::egraph {

RulesetId Engine::add_ruleset(const std::string& name) {
  const RulesetId id{static_cast<uint32_t>(rulesets.size())};
  if (!ruleset_names.emplace(name, id).second) {
    throw UserError("ruleset '" + name + "' is declared already; choose another name");
  }
  rulesets.push_back({.name = name, .rules = {}});
  return id;
}

RuleId Engine::add_rule(Rule rule) {
  const RuleId id{static_cast<uint32_t>(rules.size() + 1)};
  if (!rule_names.emplace(rule.name, id).second) {
    throw UserError("rule '" + rule.name + "' is there already; choose another :name");
  }
  database.rule_names.push_back(rule.name);
  Ruleset& ruleset = rulesets[rule.ruleset.index()];
  ruleset.rules.push_back(id);
  ruleset.searched_until = 0;
  rules.push_back(std::move(rule));
  return id;
}

void Engine::add_global(const std::string& name, SortId sort, Value value) {
  const uint32_t index = static_cast<uint32_t>(database.globals.size());
  if (!globals.emplace(name, index).second) {
    throw UserError("'" + name + "' is bound already; choose another name");
  }
  database.globals.push_back({.name = name, .sort = sort, .value = value});
}

std::string Engine::dump() const {
  std::string out;
  for (uint32_t f = 0; f < database.functions(); ++f) {
    const Function& function = database.schema.function(FunctionId{f});
    const Table& table = database.table(FunctionId{f});
    for (size_t row = 0; row < table.rows(); ++row) {
      if (!table.alive(row)) continue;
      out += "(" + function.name;
      for (size_t i = 0; i < table.inputs(); ++i) {
        out += " " + database.print(Value{table.row(row)[i]}, function.inputs[i]);
      }
      out += ")";
      if (function.kind != FunctionKind::Relation) {
        out += " = " + database.print(Value{table.output(row)}, function.output);
      }
      out += "  ; " + database.rule_names[table.origin(row).index()] + "\n";
    }
  }
  return out;
}

}  // namespace luminal::egraph
