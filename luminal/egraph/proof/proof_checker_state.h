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

// What the checker throws at a step that doesn't follow.
struct Rejected {
  std::string why;
};

[[noreturn]] inline void reject(std::string why) { throw Rejected{std::move(why)}; }

inline void require(bool holds, const char* why) {
  if (!holds) reject(why);
}

// A value that an expression may have; a relation's call has the row it stands for.
struct Candidate {
  Value value;
  SortId sort;
  const ProofStep* row = nullptr;
};
// Several where several rows or terms fit; none where nothing does.
struct Candidates {
  std::vector<Candidate> list = {};
  bool any = false;  // `_` stands for every value
};

using Names = std::map<std::string, Candidates, std::less<>>;

// What the actions of a rule do under some bindings.
struct Effects {
  struct Row {
    FunctionId function;
    std::vector<Candidates> arguments;
    std::optional<Candidates> value;  // of a set
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

  // Equal values have equal texts.
  std::string normal(Value value, SortId sort) const;
  bool equal(Value a, Value b, SortId sort) const;

  // One row of a relation is another's only at equal arguments.
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

  // In a query, where `effects` is null, a call is a row that must be there; in actions it makes
  // one.
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

  // Values with ids inside aren't what the engine computed with: those were of the same classes.
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

  std::unordered_map<uint32_t, uint32_t> ids_;  // to the numbers of terms
  std::vector<const ProofTerm*> terms_;
  // Links are never shortened: they tell what was equal at any earlier time as well.
  std::vector<uint32_t> parents_;
  std::vector<uint32_t> united_at_;  // the step that made a root's parent its parent
  uint32_t now_ = 0;                 // the step at hand
  uint32_t time_ = 0;                // steps before this one count
  std::unordered_map<uint32_t, std::vector<const ProofTerm*>> by_function_;
  struct Stated {
    const ProofStep* step;
    uint32_t at;
  };
  std::unordered_map<uint32_t, Stated> facts_;

  // Of the step at hand.
  size_t known_globals_ = 0;
  Names names_;
  std::vector<const ProofStep*> premises_;
  std::vector<bool> used_;
};

}  // namespace luminal::egraph
