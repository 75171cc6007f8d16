// ProofChecker: whether each step of an explanation follows from the program and the steps before
// it. It reads rules as they are written and shares nothing with what matches, applies and records
// them.
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
    size_t known_globals;  // the first so many are names in it
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
  // Whether commands stated a fact or a union.
  std::function<bool(const ProofStep&)> is_axiom;
  // Whether a term has its id in the e-graph, or the id is none there.
  std::function<bool(const ProofTerm&)> is_name;
  size_t ids;  // that the e-graph has
};

// Whether a primitive gives equal results for equal arguments without looking at which ids they
// hold: it may then be run on any terms of a class. Those that compare items are none.
bool moves_terms_only(const Primitive& primitive);

// A condition that terms differ is only checked against what the steps before it made equal, and
// that a fact wasn't replaced meanwhile isn't checked: a proof can't show what isn't there.
ProofVerdict check(const ProofProgram& program, const Explanation& explanation);

}  // namespace luminal::egraph
