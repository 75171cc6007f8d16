// RulesInUse: the rules of one compile, with the reason for each that doesn't run.
#pragma once

#include <string>
#include <vector>

#include "luminal/search/terms.h"

namespace luminal::search {

struct InspectedRuleFile {
  std::string name;
  std::string text;
};

// Rules beside the compiler's own, and which of all run. A ruleset is named GROUP.CLASS.
struct RuleChoice {
  std::vector<InspectedRuleFile> files;
  std::vector<std::string> disabled;  // groups
  std::string numerics = "reassociating";
};

struct RuleInUse {
  std::string name;
  std::string ruleset;
  std::string file;
  bool of_user = false;
  std::string why_off;  // empty: it runs
};

class RulesInUse {
 public:
  // Loads the files into `terms`. UserError where one is wrong.
  RulesInUse(Terms& terms, const RuleChoice& choice);

  const std::vector<RuleInUse>& rules() const { return rules_; }
  const RuleInUse* find(std::string_view name) const;
  // Everything that runs, until nothing is new.
  egraph::RunReport saturate(Terms& terms) const;

 private:
  void add_file(std::string_view file, std::string_view text, bool of_user,
                const RuleChoice& choice);

  std::vector<RuleInUse> rules_;
  std::vector<std::string> rulesets_;  // those that run, in the order of the files
};

}  // namespace luminal::search
