#include "luminal/egraph/egraph.h"

#include "luminal/base/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace luminal::egraph {
namespace {

using Arguments = std::span<const Value>;

// A host with interned shapes: what a compiler keeps outside of the engine.
struct Shapes {
  std::vector<std::vector<int64_t>> shapes;

  Value intern(std::vector<int64_t> shape) {
    for (uint32_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i] == shape) return Value{i};
    }
    shapes.push_back(std::move(shape));
    return Value{static_cast<uint32_t>(shapes.size() - 1)};
  }

  std::string print(Value value) const {
    std::string text = "[";
    for (int64_t size : shapes[value.index()])
      text += (text == "[" ? "" : " ") + std::to_string(size);
    return text + "]";
  }
};

class HostTest : public testing::Test {
 protected:
  HostTest() {
    const SortId shape = egraph.add_host_sort("Shape", [this](Value v) { return shapes.print(v); });
    const SortId i64 = egraph.schema().i64(), boolean = egraph.schema().boolean();
    egraph.add_primitive("broadcast", {shape, shape}, shape,
                         [this](Constants&, Arguments a) -> std::optional<Value> {
                           const auto& x = shapes.shapes[a[0].index()];
                           const auto& y = shapes.shapes[a[1].index()];
                           if (x.size() != y.size()) return std::nullopt;
                           std::vector<int64_t> result;
                           for (size_t i = 0; i < x.size(); ++i) {
                             if (x[i] != y[i] && x[i] != 1 && y[i] != 1) return std::nullopt;
                             result.push_back(std::max(x[i], y[i]));
                           }
                           return shapes.intern(result);
                         });
    egraph.add_primitive("rank", {shape}, i64, [this](Constants& c, Arguments a) {
      return std::optional(c.intern(static_cast<int64_t>(shapes.shapes[a[0].index()].size())));
    });
    egraph.add_primitive("is-scalar", {shape}, boolean, [this](Constants& c, Arguments a) {
      return std::optional(c.boolean(shapes.shapes[a[0].index()].empty()));
    });
    egraph.add_primitive("scalar", {}, shape, [this](Constants&, Arguments) {
      return std::optional(shapes.intern({}));
    });
    egraph.run_program(R"((datatype T (Input Shape) (Add T T) (Neg T))
        (function shape-of (T) Shape :no-merge)
        (rule ((= t (Input s))) ((set (shape-of t) s)) :name "input shape")
        (rule ((= t (Add a b)) (= x (shape-of a)) (= y (shape-of b)) (= s (broadcast x y)))
              ((set (shape-of t) s)) :name "add shape")
        (relation is-a-scalar (T))
        (rule ((= s (shape-of t)) (is-scalar s)) ((is-a-scalar t)))
        (relation has-rank (T i64))
        (rule ((= s (shape-of t)) (= n (rank s)) (> n 1)) ((has-rank t n))))",
                       "host.egg");
  }

  Value input(std::vector<int64_t> shape) {
    return egraph.add(egraph.function("Input"), {shapes.intern(std::move(shape))});
  }
  Value sum(Value a, Value b) { return egraph.add(egraph.function("Add"), {a, b}); }
  std::string shape_of(Value t) {
    const auto shape = egraph.lookup(egraph.function("shape-of"), {t});
    return shape ? shapes.print(*shape) : "none";
  }

  Shapes shapes;
  EGraph egraph;
};

TEST_F(HostTest, ValuesFlowThroughFunctionsAndPrimitives) {
  const Value column = input({4, 1}), row = input({1, 5}), matrix = input({4, 5});
  const Value t = sum(sum(column, row), matrix);
  const Value two = input({2}), three = input({3}), bad = sum(two, three);
  egraph.run(Schedule::saturate(kDefaultRuleset));
  EXPECT_EQ(shape_of(t), "[4 5]");
  EXPECT_EQ(shape_of(bad), "none") << "a primitive without a result is no match";
}

TEST_F(HostTest, ABoolOfAPrimitiveIsAGuardAndAValueCanBeBound) {
  const Value scalar = input({}), matrix = input({2, 3}), row = input({7});
  egraph.run(Schedule::saturate(kDefaultRuleset));
  const FunctionId is_a_scalar = egraph.function("is-a-scalar");
  EXPECT_TRUE(egraph.lookup(is_a_scalar, {scalar}));
  EXPECT_FALSE(egraph.lookup(is_a_scalar, {matrix}));
  const FunctionId has_rank = egraph.function("has-rank");
  EXPECT_TRUE(egraph.lookup(has_rank, {matrix, egraph.constants().intern(int64_t{2})}));
  EXPECT_FALSE(egraph.lookup(has_rank, {row, egraph.constants().intern(int64_t{1})}));
  EXPECT_EQ(egraph.size(has_rank), 1u);
}

TEST_F(HostTest, PrimitivesWithoutArgumentsMakeValuesInText) {
  egraph.run_program("(let s (Input (scalar))) (rule ((Input (scalar))) ((Neg s))) (run 1)", "t");
  EXPECT_EQ(egraph.size(egraph.function("Neg")), 1u);
  EXPECT_EQ(egraph.run_program("(extract (Neg s))", "t").outputs.at(0), "(Neg (Input []))");
}

TEST_F(HostTest, AWrongRuleIsAnInternalErrorThatNamesIt) {
  egraph.run_program("(rewrite (Neg (Neg x)) (Add x x)) (rewrite (Add x y) x :name \"drop\")", "t");
  const Value one = input({1}), six = input({6});
  sum(one, six);
  try {
    egraph.run(Schedule::saturate(kDefaultRuleset));
    FAIL() << "expected a conflict";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(),
                 "(shape-of #0) would have two values: [1] and [6]; caused by rule 'add shape' "
                 "after unions by 'drop'; make its two sides agree, or give 'shape-of' a :merge");
  }
}

TEST_F(HostTest, APrimitiveOfTheWrongSortIsAnError) {
  try {
    egraph.run_program("(rule ((= t (Input s)) (= n (rank t))) ())", "t.egg");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "t.egg:1:29: no primitive takes (rank T); known: (rank Shape)");
  }
  EXPECT_THROW(egraph.add_primitive("rank", {egraph.sort("Shape")}, egraph.schema().i64(), {}),
               UserError);
  EXPECT_THROW(egraph.add_host_sort("Shape"), UserError);
}

TEST(EGraph, TermsAreHashConsed) {
  EGraph egraph;
  const SortId sort = egraph.add_sort("T");
  const FunctionId leaf = egraph.add_constructor("Leaf", {egraph.schema().string()}, sort);
  const FunctionId pair = egraph.add_constructor("Pair", {sort, sort}, sort);
  const Value x = egraph.add(leaf, {egraph.constants().intern(std::string_view("x"))});
  const Value y = egraph.add(leaf, {egraph.constants().intern(std::string_view("y"))});
  EXPECT_EQ(egraph.add(pair, {x, y}), egraph.add(pair, {x, y}));
  EXPECT_NE(egraph.add(pair, {x, y}), egraph.add(pair, {y, x}));
  EXPECT_EQ(egraph.lookup(pair, {x, x}), std::nullopt);
  egraph.union_values(x, y);
  EXPECT_EQ(egraph.find(y), x);
  EXPECT_EQ(egraph.add(leaf, {egraph.constants().intern(std::string_view("y"))}), x);
  egraph.rebuild();
  EXPECT_EQ(egraph.size(pair), 1u);
  EXPECT_EQ(egraph.tuples(), 3u);
}

TEST(EGraph, FunctionsFromCppMustAgree) {
  EGraph egraph;
  const SortId i64 = egraph.schema().i64();
  const FunctionId f = egraph.add_function("f", {i64}, i64);
  const auto number = [&](int64_t n) { return egraph.constants().intern(n); };
  egraph.set(f, {number(1)}, number(5));
  egraph.set(f, {number(1)}, number(5));
  EXPECT_EQ(egraph.lookup(f, {number(1)}), number(5));
  EXPECT_THROW(egraph.set(f, {number(1)}, number(6)), UserError);
  EXPECT_THROW(egraph.add(f, {number(1)}), InternalError);
  EXPECT_THROW(egraph.set(f, {}, number(6)), InternalError);
}

TEST(EGraph, ACopyIsAnEGraphOfItsOwn) {
  EGraph egraph;
  egraph.run_program("(datatype T (N i64)) (rewrite (N 1) (N 2)) (N 1)", "t");
  EGraph copy = egraph;
  copy.run_program("(run 1)", "t");
  EXPECT_EQ(copy.size(copy.function("N")), 2u);
  EXPECT_EQ(egraph.size(egraph.function("N")), 1u);
  egraph = copy;
  EXPECT_EQ(egraph.dump(), copy.dump());
}

TEST(EGraph, NamesFromCppAreKnownInText) {
  EGraph egraph;
  egraph.run_program("(datatype T (N i64) (F T)) (relation hit (T))", "t");
  const Value one = egraph.add(egraph.function("N"), {egraph.constants().intern(int64_t{1})});
  egraph.let("one", egraph.sort("T"), one);
  egraph.run_program("(rule ((F one)) ((hit one))) (F (N 1)) (run 1) (check (hit one))", "t");
  EXPECT_THROW(egraph.function("missing"), UserError);
  EXPECT_THROW(egraph.sort("missing"), UserError);
  EXPECT_THROW(egraph.ruleset("missing"), UserError);
  EXPECT_EQ(egraph.find_rule("missing"), std::nullopt);
}

TEST(EGraph, RowsRememberTheRuleThatMadeThem) {
  EGraph egraph;
  egraph.run_program(R"((datatype T (N i64))
      (rule ((N 1)) ((N 2)) :name "two") (rule ((N 2)) ((N 3)) :name "three")
      (N 1) (run-schedule (saturate (run))))",
                     "t");
  std::vector<std::string> made_by;
  egraph.for_each_row(egraph.function("N"), [&](Arguments arguments, Value, RuleId origin) {
    made_by.push_back(egraph.print(arguments[0], egraph.schema().i64()) + " " +
                      egraph.rule_name(origin));
  });
  EXPECT_THAT(made_by, testing::ElementsAre("1 initial", "2 two", "3 three"));
}

}  // namespace
}  // namespace luminal::egraph
