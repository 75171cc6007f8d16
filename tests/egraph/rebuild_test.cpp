#include "luminal/egraph/database/rebuild.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace luminal::egraph {
namespace {

struct Terms {
  EGraph egraph;
  SortId sort = egraph.add_sort("T");
  FunctionId leaf = egraph.add_constructor("Leaf", {egraph.schema().i64()}, sort);
  FunctionId pair = egraph.add_constructor("Pair", {sort, sort}, sort);

  Value number(int64_t n) { return egraph.add(leaf, {egraph.constants().intern(n)}); }
};

TEST(Rebuild, EqualArgumentsMakeEqualTerms) {
  Terms t;
  const Value a = t.number(1), b = t.number(2), c = t.number(3);
  const Value ac = t.egraph.add(t.pair, {a, c}), bc = t.egraph.add(t.pair, {b, c});
  const Value up = t.egraph.add(t.pair, {ac, ac}), other = t.egraph.add(t.pair, {bc, ac});
  EXPECT_FALSE(t.egraph.same(ac, bc));
  t.egraph.union_values(a, b);
  t.egraph.rebuild();
  EXPECT_TRUE(t.egraph.same(ac, bc));
  EXPECT_TRUE(t.egraph.same(up, other));
  EXPECT_EQ(t.egraph.size(t.pair), 2u);
  EXPECT_EQ(t.egraph.classes(), 4u);
  EXPECT_EQ(t.egraph.find(bc), ac);
}

TEST(Rebuild, ATermCanBeItsOwnArgument) {
  Terms t;
  const Value a = t.number(1), aa = t.egraph.add(t.pair, {a, a});
  const Value top = t.egraph.add(t.pair, {aa, aa});
  t.egraph.union_values(a, aa);
  t.egraph.rebuild();
  EXPECT_TRUE(t.egraph.same(top, a));
  EXPECT_EQ(t.egraph.classes(), 1u);
}

// The model merges any two pairs with equal arguments until nothing changes.
TEST(Rebuild, AgreesWithNaiveCongruenceClosureOnRandomTerms) {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    Terms t;
    struct Made {
      Value value;
      int left = -1, right = -1;
    };
    std::vector<Made> made;
    std::vector<int> label;
    const int leaves = 2 + int(random() % 6);
    for (int i = 0; i < leaves; ++i) made.push_back({.value = t.number(i)});
    for (int i = 0; i < 60; ++i) {
      const int l = int(random() % made.size()), r = int(random() % made.size());
      made.push_back(
          {.value = t.egraph.add(t.pair, {made[l].value, made[r].value}), .left = l, .right = r});
    }
    for (size_t i = 0; i < made.size(); ++i) label.push_back(int(i));
    const auto merge = [&](int a, int b) {
      const int from = label[b], to = label[a];
      for (int& l : label) l = l == from ? to : l;
      return from != to;
    };
    for (int step = 0; step < 6; ++step) {
      const int a = int(random() % made.size()), b = int(random() % made.size());
      t.egraph.union_values(made[a].value, made[b].value);
      merge(a, b);
      if (random() % 2 == 0) t.egraph.rebuild();
    }
    t.egraph.rebuild();
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = leaves; i < int(made.size()); ++i) {
        for (int j = leaves; j < i; ++j) {
          if (label[made[i].left] == label[made[j].left] &&
              label[made[i].right] == label[made[j].right]) {
            changed |= merge(i, j);
          }
        }
      }
    }
    for (size_t i = 0; i < made.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        ASSERT_EQ(t.egraph.same(made[i].value, made[j].value), label[i] == label[j]);
      }
    }
  }
}

TEST(Rebuild, MergesMeetOnCanonicalValues) {
  EGraph egraph;
  egraph.run_program(R"((datatype T (A) (B) (C))
      (function low (T) i64 :merge (min old new))
      (function all (T) String :merge (+ old new))
      (function either (T) T :merge old)
      (set (low (A)) 5) (set (low (B)) 3) (set (low (B)) 9)
      (set (all (C)) "x") (set (all (C)) "x")
      (set (either (A)) (A)) (set (either (B)) (B))
      (union (A) (B))
      (check (= 3 (low (A)))) (check (= "x" (all (C)))) (check (= (A) (either (B)))))",
                     "t");
  EXPECT_EQ(egraph.size(egraph.function("low")), 1u);
  EXPECT_EQ(egraph.size(egraph.function("either")), 1u);
}

TEST(Rebuild, ALatticeMergeReachesTheSameValueInAnyOrder) {
  EGraph egraph;
  egraph.run_program(R"((datatype T (N i64))
      (function flags (T) i64 :merge (| old new))
      (set (flags (N 0)) 1) (set (flags (N 1)) 2) (set (flags (N 2)) 4) (set (flags (N 3)) 8)
      (union (N 3) (N 1)) (union (N 0) (N 2)) (union (N 0) (N 3))
      (check (= 15 (flags (N 2)))))",
                     "t");
}

TEST(Rebuild, AConflictNamesFunctionValuesAndRule) {
  EGraph egraph;
  egraph.run_program(R"((datatype T (A) (B) (W T))
      (function kind (T) i64 :no-merge)
      (rewrite (W (A)) (W (B)) :name "harmless")
      (rewrite (A) (B) :name "wrong")
      (set (kind (W (A))) 1) (set (kind (W (B))) 1)
      (set (kind (A)) 4) (set (kind (B)) 5))",
                     "t");
  try {
    egraph.run_program("(run 1)", "run.egg");
    FAIL() << "expected a conflict";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "run.egg:1:1: (kind #0) would have two values: 4 and 5; caused by rule 'wrong'; "
                 "make its two sides agree, or give 'kind' a :merge");
  }
}

// The rule unites leaves; the conflict appears two levels up, by congruence.
TEST(Rebuild, AConflictByCongruenceNamesTheRuleBehindIt) {
  EGraph egraph;
  const SortId type =
      egraph.add_host_sort("Type", [](Value v) { return v.value == 0 ? "f32" : "i8"; });
  egraph.run_program(R"((datatype T (A) (B) (W T))
      (function type (T) Type :no-merge)
      (rewrite (A) (B) :name "wrong"))",
                     "t");
  EXPECT_EQ(egraph.sort("Type"), type);
  const FunctionId wrap = egraph.function("W"), typed = egraph.function("type");
  const Value a = egraph.add(egraph.function("A"), {}), b = egraph.add(egraph.function("B"), {});
  const Value wwa = egraph.add(wrap, {egraph.add(wrap, {a})});
  const Value wwb = egraph.add(wrap, {egraph.add(wrap, {b})});
  egraph.set(typed, {wwa}, Value{0});
  egraph.set(typed, {wwb}, Value{1});
  try {
    egraph.run(Schedule::run(kDefaultRuleset));
    FAIL() << "expected a conflict";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(),
                 "(type #3) would have two values: f32 and i8; caused by rule 'wrong'; make its "
                 "two sides agree, or give 'type' a :merge");
  }
}

}  // namespace
}  // namespace luminal::egraph
