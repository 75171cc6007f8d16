// The class behind `check`: what is known after the steps so far, and what follows from it.
#pragma once

#include "luminal/egraph/proof/proof_checker.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace luminal::egraph {

// Thrown at a step that doesn't follow.
struct Rejected {
  std::string why;
};

[[noreturn]] inline void reject(std::string why) { throw Rejected{std::move(why)}; }

inline void require(bool holds, const char* why) {
  if (!holds) reject(why);
}

// A value that an expression may have; the call of a relation also has its row.
struct Candidate {
  Value value;
  SortId sort;
  const ProofStep* row = nullptr;
};
// Several if several rows or terms fit; empty if none does.
struct Candidates {
  std::vector<Candidate> list = {};
  bool any = false;  // `_`: matches every value
};

using Names = std::map<std::string, Candidates, std::less<>>;

// The effects of a rule's actions under some bindings.
struct Effects {
  struct Row {
    FunctionId function;
    std::vector<Candidates> arguments;
    std::optional<Candidates> value;  // only of a `set` action
  };
  struct Union {
    Candidates left, right;
  };

  std::vector<Row> rows;
  std::vector<Union> unions;
};

class ProofChecker {
 public:
  ProofChecker(const ProofProgram& program, const Explanation& explanation)
      : program_(program),
        schema_(program.schema),
        containers_(program.constants.containers),
        explanation_(explanation) {}

  ProofVerdict run();

 private:
  // --- terms and their equality

  void take(const ProofTerm& term);
  void require_named(Value value, SortId sort) const;
  void require_known(Value value, SortId sort) const;
  const ProofTerm& term(Value id) const;
  uint32_t root(Value id) const;
  void unite(Value a, Value b);

  // A normal form: equal values have equal texts.
  std::string normal(Value value, SortId sort) const;
  bool equal(Value a, Value b, SortId sort) const;

  // Two rows of a relation are equal only if their arguments are.
  bool equal(const Candidate& a, const Candidate& b) const;
  bool same_values(const std::vector<Value>& a, const std::vector<Value>& b,
                   const Function& function) const;
  bool contains(const Candidates& candidates, const Candidate& value) const;
  bool contains(const Candidates& candidates, Value value, SortId sort) const {
    return contains(candidates, {.value = value, .sort = sort});
  }

  bool fit(const std::vector<Candidates>& arguments, const std::vector<Value>& values,
           const Function& function) const;

  // --- steps

  void check_step(const ProofStep& step);
  void check_shape(const ProofStep& step) const;
  void check_fact(const ProofStep& step);
  void check_union(const ProofStep& step);
  void check_congruence(const ProofStep& step) const;
  bool makes(const Effects& effects, const ProofStep& step) const;
  void check_merge(const ProofStep& step);
  void check_chain() const;

  // --- rules

  void begin_premises(const ProofStep& step);
  void require_all_used() const;
  Effects apply_rule(const ProofStep& step);
  bool is_global(const std::string& name) const;
  void collect_variables(const Expr& expr, std::set<std::string>& into) const;
  bool holds(const Fact& fact);

  // --- expressions

  // In a query (`effects` is null) a call is a row that must exist; in actions it creates one.
  Candidates evaluate(const Expr& expr, Effects* effects);

  static Candidates one(Value value, SortId sort) {
    return {.list = {{.value = value, .sort = sort}}};
  }

  Candidates variable(const std::string& name) const;
  Candidates find_rows(FunctionId id, const std::vector<Candidates>& arguments);
  Candidates make_row(FunctionId id, std::vector<Candidates> arguments, Effects& effects);
  Candidates run_primitives(const std::string& name, const std::vector<Candidates>& arguments);
  void choose(const std::string& name, const std::vector<Candidates>& arguments,
              std::vector<Candidate>& chosen, size_t at, Candidates& result);
  static bool takes(const Primitive& primitive, const std::vector<Candidate>& arguments);

  // Runs a primitive on values with ids inside only if it can't tell them from the ids that the
  // engine used, which were of the same classes.
  std::optional<Value> run_primitive(const Primitive& primitive,
                                     const std::vector<Candidate>& arguments) const;

  // --- actions

  Effects act(const RuleDeclaration& rule);
  std::vector<Candidates> evaluate_all(const std::vector<Expr>& exprs, Effects& effects);
  FunctionId called(const Expr& expr) const;

  const ProofProgram& program_;
  const Schema& schema_;
  const Containers& containers_;
  const Explanation& explanation_;

  std::unordered_map<uint32_t, uint32_t> ids_;  // from ids to the numbers of terms
  std::vector<const ProofTerm*> terms_;
  // No path compression: the links also tell what was equal at any earlier step.
  std::vector<uint32_t> parents_;
  std::vector<uint32_t> united_at_;  // by term: the step that linked it to its parent
  uint32_t now_ = 0;                 // the current step
  uint32_t time_ = 0;                // only steps before this one count
  std::unordered_map<uint32_t, std::vector<const ProofTerm*>> by_function_;
  struct Stated {
    const ProofStep* step;
    uint32_t at;
  };
  std::unordered_map<uint32_t, Stated> facts_;

  // State of the current step.
  size_t known_globals_ = 0;
  Names names_;
  std::vector<const ProofStep*> premises_;
  std::vector<bool> used_;
};

}  // namespace luminal::egraph
