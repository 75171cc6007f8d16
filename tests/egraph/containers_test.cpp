#include "luminal/egraph/containers.h"

#include "luminal/base/errors.h"
#include "luminal/egraph/egraph.h"
#include "luminal/egraph/union_find.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace luminal::egraph {
namespace {

constexpr const char* kSorts = R"(
    (datatype* (T (N i64) (G T T) (OfVec V) (OfSet S) (OfMap M) (OfVecs VV))
      (sort V (Vec T)) (sort S (Set T)) (sort M (Map T T)) (sort VV (Vec V)))
    (relation rv (V)) (relation rs (S)) (relation rm (M)))";

std::vector<std::string> outputs_of(const std::string& text) {
  EGraph egraph;
  return egraph.run_program(kSorts + text, "t").outputs;
}

std::string output_of(const std::string& text) { return outputs_of(text).back(); }

std::string error_of(const std::string& text) {
  EGraph egraph;
  try {
    egraph.run_program(text, "t.egg");
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Containers, EqualContentsAreOneValue) {
  EGraph egraph;
  egraph.run_program(std::string(kSorts) + R"(
      (rv (vec-of (N 1) (N 2))) (rv (vec-push (vec-of (N 1)) (N 2))) (rv (vec-of (N 2) (N 1)))
      (rs (set-of (N 1) (N 2))) (rs (set-of (N 2) (N 1) (N 2))) (rs (set-empty)))",
                     "t");
  EXPECT_EQ(egraph.size(egraph.function("rv")), 2u);
  EXPECT_EQ(egraph.size(egraph.function("rs")), 2u);
}

TEST(Containers, AUnionInsideMakesContainersEqualAndTermsCongruent) {
  EGraph egraph;
  egraph.run_program(std::string(kSorts) + R"(
      (let a (OfVec (vec-of (N 1) (N 3)))) (let b (OfVec (vec-of (N 2) (N 3))))
      (fail (check (= a b)))
      (union (N 1) (N 2))
      (check (= a b)))",
                     "t");
  EXPECT_EQ(egraph.size(egraph.function("OfVec")), 1u);
}

TEST(Containers, CongruenceThroughContainersReachesFurtherContainers) {
  output_of(R"(
      (let a (OfVec (vec-of (OfVec (vec-of (N 1))))))
      (let b (OfVec (vec-of (OfVec (vec-of (N 2))))))
      (union (N 1) (N 2))
      (check (= a b)) (print-size))");
}

TEST(Containers, NestedOnesAreRenewedInnerFirst) {
  EGraph egraph;
  egraph.run_program(std::string(kSorts) + R"(
      (let a (OfVecs (vec-of (vec-of (N 1)) (vec-empty))))
      (let b (OfVecs (vec-of (vec-of (N 2)) (vec-empty))))
      (union (N 1) (N 2)) (check (= a b)))",
                     "t");
  EXPECT_EQ(egraph.size(egraph.function("OfVecs")), 1u);
}

TEST(Containers, ASetShrinksWhenItsMembersBecomeEqual) {
  EXPECT_EQ(output_of("(let s (set-of (N 1) (N 2) (N 3))) (rs s) (union (N 1) (N 3))"
                      "(check (= 2 (set-length s))) (check (rs (set-of (N 1) (N 2))))"
                      "(extract s)"),
            "(set-of (N 1) (N 2))");
}

TEST(Containers, OfTwoEqualKeysTheLaterEntryStays) {
  EXPECT_EQ(output_of("(let m (map-insert (map-insert (map-empty) (N 1) (N 5)) (N 2) (N 6)))"
                      "(union (N 1) (N 2)) (extract (map-length m)) (extract (map-get m (N 1)))"),
            "(N 6)");
}

TEST(Containers, GlobalsAndOutputsOfFunctionsFollow) {
  EXPECT_EQ(output_of(R"((function f (i64) V :no-merge) (set (f 0) (vec-of (N 1)))
                         (let g (vec-of (N 2)))
                         (union (N 1) (N 2))
                         (check (= g (f 0))) (set (f 0) g) (print-size f))"),
            "1");
}

TEST(Containers, RulesSeeThatContentsChanged) {
  EXPECT_EQ(output_of(R"((relation out (T))
                         (rule ((rv v) (= x (vec-get v 0)) (= x (N 7))) ((out x)))
                         (rv (vec-of (N 1))) (run 3) (union (N 1) (N 7)) (run 1)
                         (print-size out))"),
            "1");
}

TEST(Containers, AMergeOfContainersRunsDuringRebuild) {
  EXPECT_EQ(output_of(R"((function all (T) S :merge (set-union old new))
                         (set (all (N 1)) (set-of (N 1))) (set (all (N 2)) (set-of (N 2) (N 3)))
                         (union (N 1) (N 2))
                         (extract (all (N 1))))"),
            "(set-of (N 1) (N 3))");
}

TEST(Containers, APopBringsTheOldContentsBack) {
  EXPECT_EQ(output_of(R"((let v (vec-of (N 1) (N 2))) (push) (union (N 1) (N 2))
                         (check (= v (vec-of (N 1) (N 1)))) (pop)
                         (fail (check (= v (vec-of (N 1) (N 1))))) (extract v))"),
            "(vec-of (N 1) (N 2))");
}

TEST(Containers, AreExtractedWithTheirBestMembers) {
  EXPECT_EQ(output_of("(let x (G (N 1) (N 2))) (union x (N 3)) (extract (vec-of x x))"),
            "(vec-of (N 3) (N 3))");
  EXPECT_EQ(output_of("(extract (OfMap (map-insert (map-empty) (N 1) (N 2))))"),
            "(OfMap (map-insert (map-empty) (N 1) (N 2)))");
  EXPECT_EQ(output_of("(extract (OfSet (set-empty)))"), "(OfSet (set-of))");
  EXPECT_EQ(output_of("(extract (OfVec (vec-empty)))"), "(OfVec (vec-empty))");
}

TEST(Containers, CostTheSumOfWhatIsInside) {
  EXPECT_EQ(output_of("(let x (OfVec (vec-of (N 1) (N 2)))) (union x (G (N 1) (N 2)))"
                      "(let y (OfVec (vec-empty))) (union y (N 9)) (extract y)"),
            "(OfVec (vec-empty))");
}

TEST(Containers, ACycleThroughAContainerHasNoTerm) {
  const std::string text = std::string(kSorts) +
                           "(let x (OfVec (vec-of (N 1)))) (union x (N 1)) (delete (N 1))"
                           "(extract x)";
  EXPECT_NE(error_of(text).find("has no finite term"), std::string::npos) << error_of(text);
}

TEST(Containers, OrderNumbersByValueAndOthersByAge) {
  EGraph egraph;
  const auto outputs = egraph
                           .run_program(R"((sort I (Set i64)) (extract (set-of 3 -1 2))
                                           (extract (set-get (set-of 9 8) 0)))",
                                        "t")
                           .outputs;
  EXPECT_EQ(outputs[0], "(set-of 2 3 -1)");
  EXPECT_EQ(outputs[1], "8");
}

TEST(Containers, PrimitivesOutOfRangeHaveNoResult) {
  output_of(R"((N 1) (N 2) (fail (vec-get (vec-of (N 1)) 1)) (fail (vec-get (vec-of (N 1)) -1))
               (fail (vec-set (vec-of (N 1)) 1 (N 2))) (fail (vec-remove (vec-of (N 1)) 1))
               (fail (set-get (set-of (N 1)) 1)) (fail (map-get (map-empty) (N 1)))
               (check (= (vec-pop (vec-of (N 1))) (vec-remove (vec-of (N 2)) 0)))
               (print-size))");
}

TEST(Containers, SortsAreInferredFromWhatIsExpected) {
  EXPECT_EQ(outputs_of(R"((sort V2 (Vec T)) (constructor OfVec2 (V2) T)
                          (extract (OfVec2 (vec-of (N 1)))) (extract (OfVec (vec-of (N 1))))
                          (relation r2 (V2))
                          (rule ((= x (vec-empty)) (= n (vec-length y)) (rv y)) ((r2 x)))
                          (rule ((rv y)) ((let z (vec-empty)) (r2 (vec-append z z))))
                          (rv (vec-empty)) (run 1) (print-size r2))")
                .back(),
            "1");
}

TEST(Containers, ErrorsNameThePlaceAndTheWayOut) {
  EXPECT_EQ(error_of("(sort A (Vec i64)) (sort B (Vec i64)) (extract (vec-of 1))"),
            "t.egg:1:48: the sorts of (vec-of i64) aren't known well enough to choose among "
            "(vec-of i64 …) of sort A, (vec-of i64 …) of sort B; bind a variable in a fact about a "
            "function");
  EXPECT_EQ(error_of("(sort A (Pair i64 i64))"),
            "t.egg:1:10: there is no container 'Pair'; this engine has (Vec Sort), (Set Sort) and "
            "(Map Sort Sort)");
  EXPECT_EQ(error_of("(sort A (UnstableFn (i64) i64))"),
            "t.egg:1:10: there is no container 'UnstableFn'; this engine has (Vec Sort), (Set "
            "Sort) and (Map Sort Sort)");
  EXPECT_EQ(error_of("(sort A (Map i64))"), "t.egg:1:10: 'Map' is over 2 sorts, found 1");
  EXPECT_EQ(error_of("(sort A (Vec B))"), "t.egg:1:14: there is no sort 'B'; declare it first");
  EXPECT_EQ(error_of("(sort A (Vec i64)) (constructor c () A)"),
            "t.egg:1:20: constructor 'c' makes values of sort A, which has no classes; use "
            "(function …), or a sort of your own");
  EXPECT_EQ(error_of("(sort A (Vec i64)) (let v (vec-of 1 2.0))"),
            "t.egg:1:27: no primitive takes (vec-of i64 f64); known: (vec-of i64 …) of sort A");
}

TEST(Containers, ForwardValuesForGood) {
  UnionFind ids;
  for (int i = 0; i < 4; ++i) ids.make();
  Containers containers;
  const SortId vec{7};
  containers.add_sort(vec, {.elements = {SortId{6}}, .are_classes = {true}});
  const Value a = containers.intern(vec, std::vector{Value{1}});
  const Value b = containers.intern(vec, std::vector{Value{2}});
  EXPECT_TRUE(containers.has_unchecked());
  containers.refresh(ids, {});
  EXPECT_FALSE(containers.has_unchecked());
  ids.unite(1, 2);
  containers.refresh(ids, ids.displaced());
  EXPECT_EQ(containers.canonical(vec, b), a);
  EXPECT_EQ(containers.displaced(vec).size(), 1u);
  ids.clear_displaced();
  ids.unite(0, 1);
  containers.refresh(ids, ids.displaced());
  const Value c = containers.canonical(vec, b);
  EXPECT_EQ(containers.canonical(vec, a), c);
  EXPECT_EQ(containers.items(vec, c)[0], Value{0});
  // Whoever still holds an old id makes an old container, which is looked at all the same.
  EXPECT_EQ(containers.canonical(vec, containers.intern(vec, std::vector{Value{2}})), c);
}

}  // namespace
}  // namespace luminal::egraph
