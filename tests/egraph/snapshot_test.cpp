#include "luminal/egraph/snapshot.h"

#include "luminal/egraph/egraph.h"
#include "luminal/egraph/extract/extract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace luminal::egraph {
namespace {

using testing::ElementsAre;

EGraph algebra() {
  EGraph egraph;
  egraph.run_program(R"((datatype Math (Num i64) (Var String) (Add Math Math) (Mul Math Math))
      (sort Other) (constructor Wrap (Math) Other)
      (function low (Math) i64 :merge (min old new))
      (rewrite (Add a b) (Add b a) :name "commute")
      (rewrite (Mul a (Num 2)) (Add a a) :name "double")
      (rewrite (Add (Num x) (Num y)) (Num (+ x y)) :name "fold")
      (set (low (Var "x")) 3)
      (let t (Mul (Add (Num 1) (Var "x")) (Num 2)))
      (Wrap t) (Wrap (Add (Num 1) (Num 2)))
      (run-schedule (saturate (run))))",
                     "t");
  return egraph;
}

TEST(Snapshot, HoldsEveryNodeOfEveryClassOnce) {
  EGraph egraph = algebra();
  const Snapshot snapshot = egraph.snapshot();
  EXPECT_EQ(snapshot.classes(), egraph.classes());
  EXPECT_EQ(snapshot.nodes(), egraph.tuples() - egraph.size(egraph.function("low")));
  size_t nodes = 0, child_classes = 0, parents = 0;
  for (uint32_t c = 0; c < snapshot.classes(); ++c) {
    const ClassId id{c};
    if (c > 0) {
      EXPECT_LT(snapshot.value(ClassId{c - 1}), snapshot.value(id));
    }
    EXPECT_EQ(snapshot.class_of(snapshot.value(id)), id);
    EXPECT_EQ(snapshot.first_node_of(id).index(), nodes);
    parents += snapshot.parents(id).size();
    for (NodeId parent : snapshot.parents(id)) {
      const auto children = snapshot.children(snapshot.node(parent));
      EXPECT_TRUE(std::any_of(children.begin(), children.end(),
                              [&](const Child& child) { return child.class_id == id; }));
    }
    for (const Node& node : snapshot.nodes_of(id)) {
      ++nodes;
      EXPECT_EQ(node.class_id, id);
      const Function& function = egraph.schema().function(node.function);
      EXPECT_EQ(function.output, snapshot.sort(id));
      std::vector<Value> arguments;
      std::vector<ClassId> classes;
      for (const Child& child : snapshot.children(node)) {
        arguments.push_back(child.value);
        const SortId sort = function.inputs[arguments.size() - 1];
        EXPECT_EQ(child.class_id.valid(), egraph.schema().is_equality(sort));
        if (!child.class_id.valid()) continue;
        EXPECT_EQ(snapshot.value(child.class_id), child.value);
        EXPECT_EQ(snapshot.sort(child.class_id), sort);
        classes.push_back(child.class_id);
      }
      EXPECT_EQ(egraph.lookup(node.function, arguments), snapshot.value(id));
      std::sort(classes.begin(), classes.end());
      child_classes +=
          static_cast<size_t>(std::unique(classes.begin(), classes.end()) - classes.begin());
    }
  }
  EXPECT_EQ(nodes, snapshot.nodes());
  EXPECT_EQ(parents, child_classes);
}

TEST(Snapshot, KnowsTheRulesBehindNodesAndClasses) {
  EGraph egraph = algebra();
  const Snapshot snapshot = egraph.snapshot();
  const FunctionId num = egraph.function("Num");
  const auto class_of_number = [&](int64_t n) {
    return snapshot.class_of(*egraph.lookup(num, {egraph.constants().intern(n)}));
  };
  const ClassId three = class_of_number(3);
  std::vector<std::string> rules, origins;
  for (RuleId rule : snapshot.rules_behind(three)) rules.push_back(egraph.rule_name(rule));
  for (const Node& node : snapshot.nodes_of(three)) {
    origins.push_back(egraph.schema().function(node.function).name + " " +
                      egraph.rule_name(node.origin));
  }
  EXPECT_THAT(rules, ElementsAre("commute", "fold"));
  EXPECT_THAT(origins, ElementsAre("Num fold", "Add initial", "Add commute"));
  EXPECT_TRUE(snapshot.rules_behind(class_of_number(1)).empty());
}

TEST(Snapshot, OfAnEmptyEGraphIsEmpty) {
  EGraph egraph;
  EXPECT_EQ(egraph.snapshot().classes(), 0u);
  EXPECT_EQ(egraph.snapshot().nodes(), 0u);
}

TEST(Snapshot, LaterChangesDontShow) {
  EGraph egraph = algebra();
  const Snapshot snapshot = egraph.snapshot();
  const size_t classes = snapshot.classes();
  egraph.run_program("(union (Var \"x\") (Num 1)) (run 2)", "t");
  EXPECT_EQ(snapshot.classes(), classes);
  EXPECT_LT(egraph.snapshot().classes(), classes);
}

}  // namespace
}  // namespace luminal::egraph
