#include "luminal/graph/edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/base/errors.h"
#include "luminal/graph/find.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/text_form.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"

namespace luminal {
namespace {

TEST(Edit, ReplacesUsesAndRemovesWhatIsDead) {
  Graph graph;
  Tensor x = graph.input("x", {2});
  Tensor old = prim::exp2(x);
  Tensor y = prim::add(old, old).output("y");
  Tensor replacement = prim::sqrt(x);
  EXPECT_EQ(replace_uses(old, replacement), 2);
  EXPECT_EQ(remove_dead(graph), 1);
  verify(graph);
  EXPECT_TRUE(graph.node(old.id()).removed);
  EXPECT_EQ(graph.node(y.id()).inputs[0], replacement.id());
  // Ids keep their meaning and text still parses.
  EXPECT_EQ(print_graph(*parse_graph(print_graph(graph))).find("exp2"), std::string::npos);
}

TEST(Edit, TheReplacementMayReadWhatItReplaces) {
  Graph graph;
  Tensor x = graph.input("x", {2});
  Tensor a = prim::exp2(x);
  Tensor y = prim::sqrt(a).output("y");
  Tensor doubled = prim::add(a, a);
  EXPECT_EQ(replace_uses(a, doubled), 1);
  verify(graph);  // no cycle
  EXPECT_EQ(graph.node(y.id()).inputs[0], doubled.id());
}

TEST(Edit, ReplacementMustHaveTheSameType) {
  Graph graph;
  Tensor x = graph.input("x", {2});
  Tensor wide = graph.input("wide", {3});
  EXPECT_THROW(replace_uses(x, wide), UserError);
}

TEST(Edit, CopiesASubGraphWithItsData) {
  Graph from;
  Tensor x = from.input("x", {2});
  Tensor w = from.weight("w", {2}).set(std::vector<float>{1, 2});
  Tensor y = prim::add(prim::mul(x, w), w);
  prim::exp2(y);
  Graph into;
  Tensor z = into.input("z", {2});
  const NodeId root = y.id();
  std::vector<Tensor> copies = copy_subgraph(from, {&root, 1}, into, {{x.id(), z}});
  ASSERT_EQ(copies.size(), 1u);
  copies[0].output("y");
  verify(into);
  EXPECT_EQ(into.size(), 4u);  // z, w, mul, add
  EXPECT_FALSE(into.find("x").has_value());
  EXPECT_TRUE(into.has_data(into.find("w")->id()));
}

TEST(Edit, DeepGraphsDoNotOverflowTheStack) {
  Graph graph;
  Tensor x = graph.input("x", {2});
  Tensor y = x;
  for (int i = 0; i < 100000; ++i) y = prim::add(y, x);
  y.output("y");
  Graph into;
  const NodeId root = y.id();
  EXPECT_EQ(copy_subgraph(graph, {&root, 1}, into).size(), 1u);
  EXPECT_EQ(into.size(), graph.size());
}

TEST(Find, MatchesTreesInEitherOrderWithNamesAndGuards) {
  Graph graph;
  Tensor x = graph.input("x", {2});
  Tensor w = graph.input("w", {2});
  Tensor product = prim::mul(x, w);
  Tensor total = prim::add(x, product);  // the product is on the right
  prim::add(w, product);
  Pattern pattern = Pattern::op(
      Op::Add, {Pattern::op(Op::Mul, {Pattern::any("a"), Pattern::any("b")}), Pattern::any("a")});
  std::vector<Match> matches = find(graph, pattern);
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(matches[0].root, total.id());
  EXPECT_EQ(matches[0].bound.at("a"), x.id());
  EXPECT_EQ(matches[1].bound.at("a"), w.id());
  EXPECT_EQ(matches[1].bound.at("b"), x.id());

  Pattern guarded = Pattern::op(Op::Mul).as("m").where(
      [](const Graph& g, NodeId id) { return g.node(id).dims.size() == 2; });
  EXPECT_TRUE(find(graph, guarded).empty());
}

}  // namespace
}  // namespace luminal
