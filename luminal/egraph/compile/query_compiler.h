// QueryCompiler: turns facts into atoms over slots; terms that are equal share a slot.
#pragma once

#include "luminal/egraph/compile/compile.h"
#include "luminal/egraph/compile/sort_solver.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace luminal::egraph {

// Usage: `add` all facts, solve the sorts (including those of the actions), then `finish`.
class QueryCompiler {
 public:
  QueryCompiler(const Scope& scope, SortSolver& sorts)
      : scope_(scope), schema_(scope.database.schema), sorts_(sorts) {}

  struct Binding {
    uint32_t slot;
    uint32_t sort;  // a variable of the solver
  };
  using Bindings = std::map<std::string, Binding, std::less<>>;

  void add(std::span<const Fact> facts);
  // The query's named variables; no facts may be added after this.
  Bindings bindings();
  uint32_t slots() const { return static_cast<uint32_t>(slots_.size()); }
  Query finish();

 private:
  // A value of the query before slots are assigned; equal ones are joined.
  struct Term {
    std::string name;  // empty if unnamed
    SourcePosition position;
    uint32_t sort;  // a variable of the sort solver
    std::optional<Preset> preset = {};
    uint32_t relation_row = Value::kNone;  // the atom whose row it stands for
    uint32_t joined = Value::kNone;        // the term it is equal to
  };
  struct TermAtom {
    FunctionId function;
    std::vector<uint32_t> terms;
  };
  struct TermGuard {
    SourcePosition position;
    std::string name;
    std::vector<uint32_t> inputs;
    uint32_t output = 0;
    bool is_fact = false;
    uint32_t call = 0;  // a call of the sort solver
  };

  [[noreturn]] void fail(SourcePosition position, const std::string& message) const {
    base::fail_at(scope_.source, position, message);
  }
  uint32_t new_term(std::string name, SourcePosition position, SortId sort);
  uint32_t root(uint32_t term) const;
  void join(uint32_t a, uint32_t b, SourcePosition position);
  void join_rows(uint32_t a, uint32_t b, SourcePosition position);
  uint32_t term_of(const Expr& expr);
  uint32_t variable(const Expr& expr);
  uint32_t call(const Expr& expr, bool is_fact);
  uint32_t row(const Expr& expr, FunctionId function, std::vector<uint32_t> inputs);
  uint32_t guard(const Expr& expr, std::vector<uint32_t> inputs, bool is_fact);
  void check_all_bound() const;
  void check_facts() const;
  uint32_t slot_of(uint32_t term);
  std::vector<uint32_t> slots_of(const std::vector<uint32_t>& terms);

  const Scope& scope_;
  const Schema& schema_;
  SortSolver& sorts_;
  std::vector<Term> terms_;
  std::vector<TermAtom> atoms_;
  std::vector<TermGuard> guards_;
  std::vector<std::pair<uint32_t, uint32_t>> equal_presets_;
  std::map<std::string, uint32_t> variables_;
  std::map<uint32_t, uint32_t> slots_;  // by root term
};

}  // namespace luminal::egraph
