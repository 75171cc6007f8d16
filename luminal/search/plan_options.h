// PlanOptions: what a plan may be, and what it is made for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "luminal/search/policies.h"
#include "luminal/shape/expr.h"

namespace luminal {

// User-defined rules, as text; see docs/rules.md.
struct RuleFile {
  std::string name;  // used in messages
  std::string text;
};

struct PlanOptions {
  FusionPolicy fusion = FusionPolicy::Modelled;
  // By pattern, "swiglu" or "add-rms-norm": a policy that overrides `fusion`. Never stores the
  // pattern's own values, Always none of them. Never for "side-by-side": no kernels are merged.
  std::map<std::string, FusionPolicy> fusion_groups = {};
  Numerics numerics = Numerics::Reassociating;
  std::vector<RuleFile> rules = {};             // in addition to the embedded ones
  std::vector<std::string> disable_rules = {};  // groups of rules that don't run: "algebra"
  Rolling rolling = Rolling::Auto;
  Bindings typical_sizes = {};  // of variables, for the model; default: 128, or the nearest bound
  // Separate plans for ranges of a variable, chosen by run() from its value: {"s", {1, 16}} means
  // one for s = 1 (and less), one for 2 … 16, one for more.
  std::map<std::string, std::vector<int64_t>> variants = {};
};

}  // namespace luminal
