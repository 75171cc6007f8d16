// Compiles rules: checks names and sorts, and flattens nested expressions to atoms and
// instructions.
#pragma once

#include "luminal/egraph/database/database.h"
#include "luminal/egraph/database/rule.h"
#include "luminal/egraph/language/ast.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::egraph {

// What names can refer to, and the source that errors name.
struct Scope {
  Database& database;
  const std::map<std::string, uint32_t, std::less<>>& globals;  // indices into database.globals
  std::string_view source;
};

// A variable of a query.
struct Binding {
  uint32_t slot;
  SortId sort;
};
using Bindings = std::map<std::string, Binding, std::less<>>;

struct CompiledRule {
  Query query;
  Bindings variables;
  Program program;
  std::vector<uint32_t> kept;  // the query's slots that become the program's inputs
};

// UserError if a name is unknown, sorts don't fit, or a variable is unbound. Actions can't look up
// functions, because a change of the value wouldn't run the rule again; the query must do that. A
// naive rule always runs again, so its actions can.
CompiledRule compile_rule(const Scope& scope, std::span<const Fact> facts,
                          std::span<const ActionSyntax> actions, bool naive = false);
// Compiles a query alone.
Query compile_query(const Scope& scope, std::span<const Fact> facts);

struct CompiledExpr {
  Program program;
  uint32_t result = 0;
  SortId sort;
};

// Compiles an action outside of rules.
Program compile_command(const Scope& scope, const ActionSyntax& action);
CompiledExpr compile_expr(const Scope& scope, const Expr& expr);
// Compiles an expression over `old` and `new`, both of the function's output sort.
Merge compile_merge(const Scope& scope, const Expr& expr, SortId output);

// The value and sort of a literal.
struct Literal {
  Value value;
  SortId sort;
};
Literal intern_literal(Database& database, const Expr& literal);

}  // namespace luminal::egraph
