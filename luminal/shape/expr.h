// Expr: a symbolic integer, the value of a dim, a stride or an index.
//
// Expressions are interned (equal ones have equal ids) and canonical: the constructors simplify, so
// there is no separate pass to call. Simplifying never changes a value: wherever an expression as
// written has a value, its canonical form has the same one. All arithmetic is on 64-bit integers;
// a value that doesn't fit, or a division by zero, has no value (evaluate() says why). In a graph,
// a divisor that is always 0 is a UserError; where the value of a variable makes one 0, x // 0,
// x % 0 and ceildiv(x, 0) are 0 on every backend: the index map of a padded empty dim divides by
// zero, at elements whose value is masked out anyway.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "luminal/base/visibility.h"

namespace luminal {

// Values of named variables, sorted by name.
class LUMINAL_API Bindings {
 public:
  Bindings() = default;
  Bindings(std::initializer_list<std::pair<std::string, int64_t>> values);
  void set(std::string_view name, int64_t value);
  std::optional<int64_t> find(std::string_view name) const;
  const std::vector<std::pair<std::string, int64_t>>& items() const { return items_; }

 private:
  std::vector<std::pair<std::string, int64_t>> items_;
};

enum class ExprKind : uint8_t {
  Const,     // an integer
  Var,       // a named variable with bounds, bound at run time: s, p
  Index,     // the position along axis k of a view, 0 ≤ i_k < its extent
  Sum,       // constant + Σ coefficient · operand
  Product,   // operand · operand · …, none of them constant
  FloorDiv,  // ⌊a / b⌋
  CeilDiv,   // ⌈a / b⌉
  Mod,       // a − b·⌊a / b⌋: has the sign of b
  Min,       // of two or more operands
  Max,
  Less,          // a < b as 0 or 1
  GreaterEqual,  // a ≥ b as 0 or 1
  And,           // 1 if all operands are non-zero
  Or,            // 1 if any operand is non-zero
};

class LUMINAL_API Expr {
 public:
  // The default upper bound of a variable.
  static constexpr int64_t kMaxVar = (int64_t{1} << 31) - 1;

  Expr();  // 0
  template <std::integral T>
  Expr(T value) : Expr(constant(static_cast<int64_t>(value))) {}  // NOLINT: an integer is an Expr

  // A variable `name` with lower ≤ value ≤ upper. Bounds are part of its identity.
  static Expr var(std::string_view name, int64_t lower = 0, int64_t upper = kMaxVar);
  // The index along `axis`, 0 ≤ index < extent. The extent is part of its identity. With extent 1
  // it is the constant 0.
  static Expr index(int axis, Expr extent);

  ExprKind kind() const;
  // The operands of Sum (without coefficients), Product, FloorDiv … Or; the extent of an Index.
  std::span<const Expr> operands() const;
  // The coefficient of each operand of a Sum.
  std::span<const int64_t> coefficients() const;
  // The value of a Const, or the constant term of a Sum; 0 otherwise.
  int64_t constant_term() const;
  // The name of a Var; empty otherwise.
  std::string_view name() const;
  // The axis of an Index; −1 otherwise.
  int axis() const;

  // The value, if it is a constant.
  std::optional<int64_t> to_int() const;
  bool is(int64_t value) const;
  // Every value lies within these bounds, including the 0 that a division by zero gives; INT64_MIN
  // and INT64_MAX mean unbounded. For a variable: its declared bounds.
  int64_t lower_bound() const;
  int64_t upper_bound() const;

  // The value under `bindings` (and, for Index nodes, `index`); no value, with the reason, when a
  // variable is missing, a division is by zero or the result leaves 64 bits.
  struct Value;
  Value evaluate(const Bindings& bindings, std::span<const int64_t> index = {}) const;
  // The same expression with variables replaced by constants where `bindings` names them, in the
  // extents of its indices too. UserError for a value outside the bounds of its variable.
  Expr bind(const Bindings& bindings) const;
  // The same expression with each Index k replaced by replacement[k], which must stay within k's
  // extent: simplification relied on that.
  Expr substitute_indices(std::span<const Expr> replacement) const;
  // The same expression with every `from` (any subexpression) replaced by `to`, which must stay
  // within the bounds of `from`.
  Expr substitute(Expr from, Expr to) const;
  // The distinct variables in it, those in the extents of its indices included, sorted by name.
  std::vector<Expr> variables() const;
  // Whether it mentions any Index, or the Index of one axis.
  bool uses_indices() const;
  bool uses_index(int axis) const;

  // As a person writes it: (s + 15) // 16 * 16, ceildiv(s, 4), i0 >= 1 and i0 < 5.
  std::string text() const;
  // As a term of the e-graph: (Add (Var "s") (Num 3)).
  std::string term() const;
  // As C source; floor division and mod call luminal_floordiv and luminal_floormod unless both
  // sides are known to be non-negative.
  std::string c_source() const;

  // Interned id: equal expressions have equal ids within a process; not stable across runs.
  uint32_t id() const { return id_; }
  // The same for equal expressions in every run.
  uint64_t hash() const;
  friend bool operator==(Expr a, Expr b) { return a.id_ == b.id_; }
  LUMINAL_API friend std::ostream& operator<<(std::ostream& out, Expr e);  // as text()

 private:
  friend struct ExprAccess;
  explicit Expr(uint32_t id, int) : id_(id) {}
  static Expr constant(int64_t value);
  uint32_t id_;
};

// A value, or why there is none.
struct Expr::Value {
  std::optional<int64_t> value;
  std::string why;
};

LUMINAL_API Expr operator+(Expr a, Expr b);
LUMINAL_API Expr operator-(Expr a, Expr b);
LUMINAL_API Expr operator-(Expr a);
LUMINAL_API Expr operator*(Expr a, Expr b);
LUMINAL_API Expr operator/(Expr a, Expr b);  // ⌊a / b⌋
LUMINAL_API Expr operator%(Expr a, Expr b);  // sign of b
LUMINAL_API Expr ceil_div(Expr a, Expr b);
LUMINAL_API Expr min(Expr a, Expr b);
LUMINAL_API Expr max(Expr a, Expr b);
LUMINAL_API Expr operator<(Expr a, Expr b);  // as 0 or 1
LUMINAL_API Expr operator>=(Expr a, Expr b);
LUMINAL_API Expr operator&&(Expr a, Expr b);
LUMINAL_API Expr operator||(Expr a, Expr b);

// A total order that is the same in every run, for sorted output.
LUMINAL_API int compare(Expr a, Expr b);

// Whether a ≤ b (a < b) for every value of their variables and indices; false when unknown.
LUMINAL_API bool known_less_equal(Expr a, Expr b);
LUMINAL_API bool known_less(Expr a, Expr b);

// Names that parse_expr resolves to something other than an unbounded variable.
struct ParseScope {
  std::vector<Expr> variables;  // declared variables, found by name
  std::vector<Expr> extents;    // extents of i0, i1, …
  bool declared_only = false;   // an unknown name is an error instead of a new variable
};

// Reads what text() prints. Throws UserError with the position of what it can't read.
LUMINAL_API Expr parse_expr(std::string_view text, const ParseScope& scope = {});
// Reads what term() prints.
LUMINAL_API Expr parse_expr_term(std::string_view text, const ParseScope& scope = {});

}  // namespace luminal

template <>
struct std::hash<luminal::Expr> {
  size_t operator()(luminal::Expr e) const noexcept { return e.id(); }
};
