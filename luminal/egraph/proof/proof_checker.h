// ProofChecker: whether each step of an explanation follows from the program and the steps before
// it. It reads rules as written and shares no code with matching, applying and recording.
#pragma once

#include "luminal/egraph/constants.h"
#include "luminal/egraph/explanation.h"
#include "luminal/egraph/language/ast.h"
#include "luminal/egraph/schema.h"

#include <functional>
#include <map>
#include <string>

namespace luminal::egraph {

// What explanations may rest on.
struct ProofProgram {
  struct Rule {
    const RuleDeclaration* syntax;
    size_t known_globals;  // the rule sees globals below this index
  };
  struct Global {
    size_t index;
    Value value;
    SortId sort;
  };

  const Schema& schema;
  Constants& constants;
  std::map<std::string, Rule, std::less<>> rules;
  std::map<uint32_t, const Expr*> merges;  // by function
  std::map<std::string, Global, std::less<>> globals;
  // Whether a command stated this fact or union.
  std::function<bool(const ProofStep&)> is_axiom;
  // Whether the id names this term in the e-graph, or isn't in use there.
  std::function<bool(const ProofTerm&)> is_name;
  size_t ids;  // number of ids in the e-graph
};

// Whether a primitive gives equal results for equal arguments regardless of the ids they hold, so
// that it may be run on any terms of a class. False for primitives that compare items.
bool moves_terms_only(const Primitive& primitive);

// Two things aren't checked, because a proof can't show an absence: that terms differ (beyond what
// the steps before made equal), and that a fact wasn't replaced meanwhile.
ProofVerdict check(const ProofProgram& program, const Explanation& explanation);

}  // namespace luminal::egraph
