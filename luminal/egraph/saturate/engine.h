// Engine: the database with its rules and names; commands and the host operate on it.
#pragma once

#include "luminal/egraph/compile/compile.h"
#include "luminal/egraph/database/database.h"
#include "luminal/egraph/database/rule.h"
#include "luminal/egraph/saturate/match.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::egraph {

struct Rule {
  std::string name;
  RulesetId ruleset;
  Matcher matcher;
  Program actions;
  bool naive = false;                                  // matches everything in every iteration
  Bindings variables = {};                             // the query's variables by name
  std::shared_ptr<const RuleDeclaration> syntax = {};  // read by the proof checker
  uint32_t searched_until = 0;  // rows of this time or later are new to the rule
  size_t known_globals = 0;     // globals bound later aren't visible in it
};

struct Ruleset {
  std::string name;
  std::vector<RuleId> rules;
  uint32_t searched_until = 0;  // the minimum over its rules
  bool has_naive = false;
  bool is_combined = false;
  std::vector<std::string> parts = {};  // of a combined ruleset: those whose rules it has
};

// Has value semantics: a copy is an independent engine.
struct Engine {
  Database database;
  std::vector<Rule> rules;  // by RuleId, from 1
  std::vector<Ruleset> rulesets{{.name = "", .rules = {}, .searched_until = 0}};
  std::map<std::string, uint32_t, std::less<>> globals;
  std::map<std::string, RulesetId, std::less<>> ruleset_names{{"", kDefaultRuleset}};
  std::map<std::string, RuleId, std::less<>> rule_names;
  std::vector<std::shared_ptr<const Engine>> pushed;  // the stack of `push`; the last is on top

  Rule& rule(RuleId id) { return rules[id.index() - 1]; }
  Scope scope(std::string_view source) { return {database, globals, source}; }

  // UserError if the name is taken.
  RulesetId add_ruleset(const std::string& name);
  RuleId add_rule(Rule rule);
  // Updates the rules of combined rulesets, whose parts may have been added or extended meanwhile.
  void refresh_combined_rulesets();
  void add_global(const std::string& name, SortId sort, Value value);

  // Every live row as text, table by table; equal states give equal bytes.
  std::string dump() const;

 private:
  void collect_rules(RulesetId id, std::set<uint32_t>& seen, std::vector<RuleId>& all) const;
};

}  // namespace luminal::egraph
