// Explanation: why two terms are equal, as steps that follow from the ones before them.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/egraph/value.h"

#include <cstdint>
#include <string>
#include <vector>

namespace luminal::egraph {

struct ProofStep {
  enum class Kind : uint8_t {
    Fact,        // a row exists: `function` at `arguments` has `value`
    Union,       // `left` and `right` are equal
    Congruence,  // the same, because both are `function` of equal arguments
  };
  enum class Cause : uint8_t {
    Command,  // stated outside of rules: an axiom
    Rule,     // an action of `rule` under `bindings`; the facts `premises` satisfy its query
    Merge,    // a merge of the facts `premises`, the old and the new one
    Law,      // the law of congruence
  };
  struct Binding {
    std::string variable;
    Value value;
    SortId sort;

    friend bool operator==(const Binding&, const Binding&) = default;
  };

  Kind kind = Kind::Union;
  Cause cause = Cause::Command;
  uint32_t fact = 0;      // Fact: its number, by which later steps refer to it
  FunctionId function{};  // Fact and Congruence
  std::vector<Value> arguments = {};
  Value value{};
  Value left{}, right{};
  std::string rule = {};
  std::vector<Binding> bindings = {};
  std::vector<uint32_t> premises = {};  // facts, without duplicates
  // Rule: how many of the steps existed when the query matched. Steps between then and the actions
  // are not visible to a condition that terms differ.
  uint32_t known_steps = 0;

  friend bool operator==(const ProofStep&, const ProofStep&) = default;
};

// Ids in steps name terms: `id` is `function` of `arguments`, whose own ids are defined before it.
// A named term isn't necessarily in the e-graph.
struct ProofTerm {
  Value id;
  FunctionId function;
  std::vector<Value> arguments;

  friend bool operator==(const ProofTerm&, const ProofTerm&) = default;
};

// A step of the chain from one side to the other; `reversed` means it is read from right to left.
struct ProofLink {
  uint32_t step = 0;
  bool reversed = false;

  friend bool operator==(const ProofLink&, const ProofLink&) = default;
};

struct Explanation {
  Value left, right;
  SortId sort;
  std::vector<ProofTerm> terms;
  std::vector<ProofStep> steps;  // each follows from earlier ones
  std::vector<ProofLink> chain;
};

// The proof checker's result.
struct ProofVerdict {
  bool accepted = false;
  std::string why = {};  // names the step that doesn't follow, counted from 1
};

}  // namespace luminal::egraph
