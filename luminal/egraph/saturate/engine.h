// Engine: the database with its rules and names, which commands and the host work on.
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
  bool naive = false;                                  // matches everything each time
  Bindings variables = {};                             // of the query, by name
  std::shared_ptr<const RuleDeclaration> syntax = {};  // what a checker of proofs reads
  uint32_t searched_until = 0;                         // rows of this time or later are new to it
  size_t known_globals = 0;                            // those bound later are no names in it
};

struct Ruleset {
  std::string name;
  std::vector<RuleId> rules;
  uint32_t searched_until = 0;  // the least of its rules
  bool has_naive = false;
  bool is_combined = false;
  std::vector<std::string> parts = {};  // the rulesets whose rules a combined one has
};

// All values, so that a copy is an engine of its own.
struct Engine {
  Database database;
  std::vector<Rule> rules;  // by RuleId, from 1
  std::vector<Ruleset> rulesets{{.name = "", .rules = {}, .searched_until = 0}};
  std::map<std::string, uint32_t, std::less<>> globals;
  std::map<std::string, RulesetId, std::less<>> ruleset_names{{"", kDefaultRuleset}};
  std::map<std::string, RuleId, std::less<>> rule_names;
  std::vector<std::shared_ptr<const Engine>> pushed;  // what `pop` goes back to, the last first

  Rule& rule(RuleId id) { return rules[id.index() - 1]; }
  Scope scope(std::string_view source) { return {database, globals, source}; }

  // UserError where the name is taken.
  RulesetId add_ruleset(const std::string& name);
  RuleId add_rule(Rule rule);
  // Collects the rules of combined rulesets, whose parts may have come or grown meanwhile.
  void refresh_combined_rulesets();
  void add_global(const std::string& name, SortId sort, Value value);

  // As text: every living row, table by table; the same state gives the same bytes.
  std::string dump() const;

 private:
  void collect_rules(RulesetId id, std::set<uint32_t>& seen, std::vector<RuleId>& all) const;
};

}  // namespace luminal::egraph
