#include "luminal/egraph/saturate/engine.h"

#include "luminal/base/errors.h"

#include <algorithm>
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
  ruleset.has_naive |= rule.naive;
  rule.known_globals = database.globals.size();
  rules.push_back(std::move(rule));
  return id;
}

void Engine::refresh_combined_rulesets() {
  for (uint32_t r = 0; r < rulesets.size(); ++r) {
    if (!rulesets[r].is_combined) continue;
    std::vector<RuleId> all;
    std::set<uint32_t> seen;
    collect_rules(RulesetId{r}, seen, all);
    if (all == rulesets[r].rules) continue;
    rulesets[r].has_naive =
        std::any_of(all.begin(), all.end(), [this](RuleId id) { return rule(id).naive; });
    rulesets[r].rules = std::move(all);
    rulesets[r].searched_until = 0;
  }
}

void Engine::collect_rules(RulesetId id, std::set<uint32_t>& seen, std::vector<RuleId>& all) const {
  if (!seen.insert(id.value).second) return;
  const Ruleset& from = rulesets[id.index()];
  if (!from.is_combined) {
    all.insert(all.end(), from.rules.begin(), from.rules.end());
    return;
  }
  for (const std::string& part : from.parts) {
    const auto found = ruleset_names.find(part);
    if (found == ruleset_names.end()) {
      throw UserError("ruleset '" + part + "' of the combined ruleset '" + from.name +
                      "' doesn't exist; declare it with (ruleset " + part + ")");
    }
    collect_rules(found->second, seen, all);
  }
}

void Engine::add_global(const std::string& name, SortId sort, Value value) {
  if (database.schema.find_function(name)) {
    throw UserError("'" + name + "' is a function already; choose another name");
  }
  const uint32_t index = static_cast<uint32_t>(database.globals.size());
  if (!globals.emplace(name, index).second) {
    throw UserError("'" + name + "' is bound already; choose another name");
  }
  database.globals.push_back({.name = name, .sort = sort, .value = value});
  if (database.proofs) database.proofs->add_global(value);
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
