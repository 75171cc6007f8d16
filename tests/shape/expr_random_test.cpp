// Random expressions against a naive evaluator that never simplifies: 100,000 of them, seeded.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "luminal/shape/expr.h"
#include "tests/shape/print_expr.h"

namespace luminal {
namespace {

enum class Op : uint8_t {
  Const,
  Var,
  Index,
  Add,
  Sub,
  Mul,
  Div,
  CeilDiv,
  Mod,
  Min,
  Max,
  Less,
  GreaterEqual,
  And,
  Or
};

// An expression as written.
struct Tree {
  Op op;
  int64_t value = 0;  // of a Const; which Var or Index
  std::unique_ptr<Tree> a, b;
};

struct Variable {
  const char* name;
  int64_t lower, upper;
};
constexpr Variable kVariables[] = {
    {"s", 0, Expr::kMaxVar},     {"t", 1, 100}, {"n", -5, 5},
    {"u", INT64_MIN, INT64_MAX}, {"p", 2, 3},   {"w", -(int64_t{1} << 40), int64_t{1} << 50}};
constexpr size_t kVariableCount = std::size(kVariables);
constexpr size_t kIndexCount = 4;

struct Point {
  int64_t variables[kVariableCount];
  int64_t index[kIndexCount];
};

Expr variable(size_t k) {
  return Expr::var(kVariables[k].name, kVariables[k].lower, kVariables[k].upper);
}

std::vector<Expr> extents() { return {4, variable(0) + 1, 64, variable(1) * 4}; }

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::unique_ptr<Tree> tree(int depth) {
    auto node = std::make_unique<Tree>();
    if (depth == 0 || below(6) == 0) {
      const int64_t kind = below(6);
      node->op = kind < 2 ? Op::Const : kind < 4 ? Op::Var : Op::Index;
      node->value = kind < 2 ? constant() : kind < 4 ? below(kVariableCount) : below(kIndexCount);
      return node;
    }
    // Div and mod twice as often as the rest: they have the most rules.
    constexpr Op kOps[] = {Op::Add,  Op::Add,          Op::Add,     Op::Sub, Op::Mul,
                           Op::Mul,  Op::Div,          Op::Div,     Op::Div, Op::Mod,
                           Op::Mod,  Op::Mod,          Op::CeilDiv, Op::Min, Op::Max,
                           Op::Less, Op::GreaterEqual, Op::And,     Op::Or};
    node->op = kOps[below(std::size(kOps))];
    node->a = tree(depth - 1);
    node->b = tree(below(2) == 0 ? 0 : depth - 1);
    return node;
  }

  Point point() {
    Point p;
    for (size_t k = 0; k < kVariableCount; ++k) p.variables[k] = value(kVariables[k]);
    const int64_t sizes[] = {4, p.variables[0] + 1, 64, p.variables[1] * 4};
    for (size_t k = 0; k < kIndexCount; ++k) p.index[k] = below(static_cast<uint64_t>(sizes[k]));
    return p;
  }

  int64_t below(uint64_t n) { return static_cast<int64_t>(random_() % n); }

 private:
  int64_t constant() {
    constexpr int64_t kExtreme[] = {INT64_MIN,        INT64_MAX,        INT64_MIN + 1,
                                    int64_t{1} << 62, int64_t{1} << 31, -(int64_t{1} << 33)};
    if (below(40) == 0) return kExtreme[below(std::size(kExtreme))];
    constexpr int64_t kDivisors[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 64};
    if (below(2) == 0) return kDivisors[below(std::size(kDivisors))];
    return below(25) - 12;
  }

  int64_t value(const Variable& v) {
    const int64_t choice = below(8);
    if (choice == 0) return v.lower;
    if (choice == 1) return v.upper;
    const int64_t small = below(40) - 12;
    if (choice < 6) return std::clamp(small, v.lower, v.upper);
    const unsigned __int128 range = static_cast<unsigned __int128>(static_cast<__int128>(v.upper) -
                                                                   static_cast<__int128>(v.lower)) +
                                    1;
    return static_cast<int64_t>(static_cast<__int128>(v.lower) +
                                static_cast<__int128>(random_() % range));
  }

  std::mt19937_64 random_;
};

std::optional<int64_t> fit(__int128 value) {
  if (value < INT64_MIN || value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(value);
}

// Every step in 64 bits; no value where one step has none.
std::optional<int64_t> evaluate(const Tree& tree, const Point& p) {
  if (tree.op == Op::Const) return tree.value;
  if (tree.op == Op::Var) return p.variables[tree.value];
  if (tree.op == Op::Index) return p.index[tree.value];
  const auto left = evaluate(*tree.a, p), right = evaluate(*tree.b, p);
  if (!left || !right) return std::nullopt;
  const __int128 a = *left, b = *right;
  const auto floor_mod = [&] { return ((a % b) + b) % b; };
  switch (tree.op) {
    case Op::Const:
    case Op::Var:
    case Op::Index:
      break;
    case Op::Add:
      return fit(a + b);
    case Op::Sub:
      return fit(a - b);
    case Op::Mul:
      return fit(a * b);
    case Op::Div:
      if (b == 0) return std::nullopt;
      return fit((a - floor_mod()) / b);
    case Op::CeilDiv:
      if (b == 0) return std::nullopt;
      return fit((a - floor_mod()) / b + (floor_mod() != 0));
    case Op::Mod:
      if (b == 0) return std::nullopt;
      return fit(floor_mod());
    case Op::Min:
      return fit(std::min(a, b));
    case Op::Max:
      return fit(std::max(a, b));
    case Op::Less:
      return a < b;
    case Op::GreaterEqual:
      return a >= b;
    case Op::And:
      return a != 0 && b != 0;
    case Op::Or:
      return a != 0 || b != 0;
  }
  return std::nullopt;
}

Expr build(const Tree& tree) {
  if (tree.op == Op::Const) return tree.value;
  if (tree.op == Op::Var) return variable(static_cast<size_t>(tree.value));
  if (tree.op == Op::Index) {
    return Expr::index(static_cast<int>(tree.value), extents()[static_cast<size_t>(tree.value)]);
  }
  const Expr a = build(*tree.a), b = build(*tree.b);
  switch (tree.op) {
    case Op::Const:
    case Op::Var:
    case Op::Index:
      break;
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:
      return a / b;
    case Op::CeilDiv:
      return ceil_div(a, b);
    case Op::Mod:
      return a % b;
    case Op::Min:
      return min(a, b);
    case Op::Max:
      return max(a, b);
    case Op::Less:
      return a < b;
    case Op::GreaterEqual:
      return a >= b;
    case Op::And:
      return a && b;
    case Op::Or:
      return a || b;
  }
  return 0;
}

std::string written(const Tree& tree) {
  if (tree.op == Op::Const) return std::to_string(tree.value);
  if (tree.op == Op::Var) return kVariables[tree.value].name;
  if (tree.op == Op::Index) return "i" + std::to_string(tree.value);
  constexpr const char* kNames[] = {"",  "",    "",    "+", "-",  "*",   "//", "ceildiv",
                                    "%", "min", "max", "<", ">=", "and", "or"};
  return "(" + written(*tree.a) + " " + kNames[static_cast<size_t>(tree.op)] + " " +
         written(*tree.b) + ")";
}

Bindings bindings_of(const Point& p) {
  Bindings bindings;
  for (size_t k = 0; k < kVariableCount; ++k) bindings.set(kVariables[k].name, p.variables[k]);
  return bindings;
}

std::string describe(const Tree& tree, const Point& p) {
  std::string out = written(tree);
  for (size_t k = 0; k < kVariableCount; ++k) {
    out += std::string(" ") + kVariables[k].name + "=" + std::to_string(p.variables[k]);
  }
  for (int64_t index : p.index) out += " i=" + std::to_string(index);
  return out;
}

constexpr int kTrees = 100000;
constexpr int kPoints = 4;

TEST(RandomExpr, HasTheValueOfWhatWasWritten) {
  Generator generator(1);
  int with_value = 0;
  for (int k = 0; k < kTrees; ++k) {
    const auto tree = generator.tree(2 + k % 4);
    const Expr e = build(*tree);
    for (int n = 0; n < kPoints; ++n) {
      const Point p = generator.point();
      const auto expected = evaluate(*tree, p);
      if (!expected) continue;
      ++with_value;
      const auto found = e.evaluate(bindings_of(p), p.index);
      ASSERT_TRUE(found.value) << found.why << "\n" << describe(*tree, p) << "\n" << e.text();
      ASSERT_EQ(*found.value, *expected) << describe(*tree, p) << "\n" << e.text();
      ASSERT_LE(e.lower_bound(), *expected) << describe(*tree, p) << "\n" << e.text();
      ASSERT_GE(e.upper_bound(), *expected) << describe(*tree, p) << "\n" << e.text();
    }
  }
  EXPECT_GT(with_value, kTrees);
}

TEST(RandomExpr, TextAndTermAreReadBackAsTheSameExpression) {
  Generator generator(2);
  ParseScope scope{.variables = {}, .extents = extents(), .declared_only = true};
  for (size_t k = 0; k < kVariableCount; ++k) scope.variables.push_back(variable(k));
  for (int k = 0; k < kTrees / 5; ++k) {
    const auto tree = generator.tree(2 + k % 3);
    const Expr e = build(*tree);
    ASSERT_EQ(parse_expr(e.text(), scope), e) << written(*tree) << "\n" << e.text();
    ASSERT_EQ(parse_expr_term(e.term()), e) << written(*tree) << "\n" << e.term();
  }
}

TEST(RandomExpr, SubstitutionAgreesWithEvaluation) {
  Generator generator(3);
  for (int k = 0; k < kTrees / 5; ++k) {
    const auto tree = generator.tree(2 + k % 3);
    const Expr e = build(*tree);
    const Point p = generator.point();
    const auto expected = evaluate(*tree, p);
    if (!expected) continue;
    const Bindings bindings = bindings_of(p);
    const std::vector<Expr> index(p.index, p.index + kIndexCount);
    const std::string what = describe(*tree, p) + "\n" + e.text();
    ASSERT_EQ(e.bind(bindings).evaluate(bindings, p.index).value, expected) << what;
    ASSERT_EQ(e.substitute_indices(index).evaluate(bindings).value, expected) << what;
    ASSERT_EQ(e.bind(bindings).substitute_indices(index).evaluate({}).value, expected) << what;
    const Expr shifted = e.substitute(variable(5), variable(5) + variable(2) - variable(2));
    ASSERT_EQ(shifted, e) << what;
    const Expr one = e.substitute(variable(2), p.variables[2]);
    ASSERT_EQ(one.evaluate(bindings, p.index).value, expected) << what;
  }
}

TEST(RandomExpr, KnownOrderHoldsEverywhere) {
  Generator generator(4);
  int known = 0;
  for (int k = 0; k < kTrees / 5; ++k) {
    const auto a = generator.tree(1 + k % 3), b = generator.tree(1 + k % 2);
    const bool less = known_less(build(*a), build(*b));
    const bool less_equal = known_less_equal(build(*a), build(*b));
    if (!less && !less_equal) continue;
    ++known;
    for (int n = 0; n < kPoints; ++n) {
      const Point p = generator.point();
      const auto x = evaluate(*a, p), y = evaluate(*b, p);
      if (!x || !y) continue;
      ASSERT_TRUE(!less || *x < *y) << describe(*a, p) << "\n" << written(*b);
      ASSERT_TRUE(!less_equal || *x <= *y) << describe(*a, p) << "\n" << written(*b);
    }
  }
  EXPECT_GT(known, 100);
}

}  // namespace
}  // namespace luminal
