#include "luminal/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/base/errors.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/tensor.h"
#include "luminal/graph/traverse.h"
#include "luminal/graph/verify.h"

namespace luminal {
namespace {

using testing::HasSubstr;

// The message of the UserError that `function` throws.
template <typename Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Graph, NamesOfLeavesAreUnique) {
  Graph graph;
  graph.input("x", {2});
  EXPECT_THAT(error_of([&] { graph.weight("x", {2}); }), HasSubstr("already has a leaf named 'x'"));
  EXPECT_THAT(error_of([&] { graph.weight("", {2}); }), HasSubstr("needs a name"));
}

TEST(Graph, ASharedOneLivesAsLongAsItsTensors) {
  std::shared_ptr<Graph> graph = Graph::shared();
  const std::weak_ptr<Graph> watched = graph;
  Tensor y = prim::exp2(graph->input("x", {2}));
  graph.reset();
  EXPECT_EQ(y.graph().leaves().size(), 1u);
  EXPECT_EQ(y.home(), y.graph().home()) << "the same home, held";
  y = Tensor();
  EXPECT_TRUE(watched.expired());
}

TEST(Graph, FindsLeavesAndOutputsByName) {
  Graph graph;
  Tensor x = graph.input("x", {2});
  Tensor y = prim::exp2(x).output("y");
  EXPECT_EQ(graph.find("x")->id(), x.id());
  EXPECT_EQ(graph.find("y")->id(), y.id());
  EXPECT_FALSE(graph.find("z").has_value());
  EXPECT_FALSE(graph.find("").has_value());
}

TEST(Graph, KeepAndDropChangeOnlyOutputs) {
  Graph graph;
  Tensor x = graph.input("x", {2});
  Tensor y = prim::exp2(x);
  y.keep();
  y.keep();
  EXPECT_EQ(graph.outputs().size(), 1u);
  y.drop();
  EXPECT_TRUE(graph.outputs().empty());
}

TEST(Graph, ConstantsTakeTheValueOfTheirDtype) {
  Graph graph;
  EXPECT_EQ(graph.constant(0.1, DType::BF16).node().as<ConstantAttr>().real, 0.10009765625);
  EXPECT_EQ(graph.constant(300, DType::U8).node().as<ConstantAttr>().integer, 44);
  EXPECT_EQ(graph.constant(2.9, DType::I32).node().as<ConstantAttr>().integer, 2);
  EXPECT_EQ(graph.constant(Expr::var("s"), DType::I64).node().op, Op::Iota);
  EXPECT_EQ(graph.constant(Expr(7), DType::I64).node().as<ConstantAttr>().integer, 7);
}

TEST(Graph, PrimitivesWantEqualDimsAndDtypes) {
  Graph graph;
  Tensor a = graph.input("a", {2, 3});
  Tensor b = graph.input("b", {3, 2});
  Tensor i = graph.input("i", {2, 3}, DType::I32);
  EXPECT_EQ(error_of([&] { prim::add(a, b); }),
            "add: dims differ: 'a' is [2, 3], 'b' is [3, 2]; expand or reshape one of them");
  EXPECT_EQ(error_of([&] { prim::mul(a, i); }),
            "mul: dtypes differ: 'a' is f32, 'i' is i32; cast one of them");
  EXPECT_THAT(error_of([&] { prim::exp2(i); }), HasSubstr("expects a float type"));
  EXPECT_THAT(error_of([&] { prim::int_div(a, a); }), HasSubstr("expects integers"));
  EXPECT_THAT(error_of([&] { prim::bitcast(a, DType::I64); }), HasSubstr("32 bits wide"));
  EXPECT_THAT(error_of([&] { prim::gather(a, a); }), HasSubstr("i64 or i32 index"));
  EXPECT_THAT(error_of([&] { prim::select(a, a, a); }), HasSubstr("bool condition"));
}

TEST(Graph, TensorsOfTwoGraphsDoNotMix) {
  Graph one;
  Graph two;
  Tensor a = one.input("a", {2});
  Tensor b = two.input("b", {2});
  EXPECT_THAT(error_of([&] { prim::add(a, b); }), HasSubstr("different graphs"));
  EXPECT_THAT(error_of([&] { prim::exp2(Tensor()); }), HasSubstr("empty Tensor"));
}

TEST(Graph, StatesAreUpdatedOnceWithTheirOwnType) {
  Graph graph;
  Tensor state = graph.state("h", {2});
  Tensor x = graph.input("x", {2});
  Tensor wide = graph.input("wide", {3});
  EXPECT_THAT(error_of([&] { graph.update(x, state); }), HasSubstr("not a state"));
  EXPECT_THAT(error_of([&] { graph.update(state, wide); }), HasSubstr("cast or reshape the value"));
  graph.update(state, x);
  EXPECT_THAT(error_of([&] { graph.update(state, x); }), HasSubstr("already has an update"));
}

TEST(Graph, CloneHasTheSameNodesAndIsIndependent) {
  Graph graph;
  Tensor x = graph.input("x", {2});
  Tensor y = prim::exp2(x).output("y");
  std::unique_ptr<Graph> copy = graph.clone();
  prim::log2(y);
  EXPECT_EQ(graph.size(), 3u);
  EXPECT_EQ(copy->size(), 2u);
  EXPECT_EQ(copy->node(y.id()).op, Op::Exp2);
  EXPECT_EQ(copy->outputs()[0].name, "y");
}

TEST(Graph, RankIsLimited) {
  Graph graph;
  EXPECT_THAT(error_of([&] { graph.input("x", Dims(11, Expr(1))); }),
              HasSubstr("10 are supported"));
}

TEST(Verify, NamesAVariableWithTwoPairsOfBounds) {
  Graph graph;
  graph.input("x", {Expr::var("s", 1, 8)});
  graph.input("y", {Expr::var("s", 1, 9)});
  EXPECT_THAT(error_of([&] { verify(graph); }), HasSubstr("two pairs of bounds"));
}

TEST(Verify, CollectsTheVariablesOfDimsAndExpressions) {
  Graph graph;
  Expr s = Expr::var("s", 1, 8);
  Expr t = Expr::var("t", 1, 8);
  graph.input("x", {s});
  prim::iota(graph, Expr::index(0, 4) + t, {4}, DType::I64);
  std::vector<Expr> all = variables(graph);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], s);
  EXPECT_EQ(all[1], t);
}

TEST(Traverse, OrdersByIdAmongWhatIsReady) {
  Graph graph;
  Tensor x = graph.input("x", {2});
  Tensor a = prim::exp2(x);
  Tensor b = prim::log2(x);
  Tensor c = prim::add(b, a);
  std::vector<NodeId> order = topological_order(graph);
  EXPECT_EQ(order, (std::vector<NodeId>{x.id(), a.id(), b.id(), c.id()}));
  const NodeId root = b.id();
  EXPECT_EQ(topological_order(graph, {&root, 1}), (std::vector<NodeId>{x.id(), b.id()}));
  EXPECT_EQ(consumers(graph)[x.id().index()], (std::vector<NodeId>{a.id(), b.id()}));
}

TEST(TensorData, NestedListsFillEveryDtype) {
  EXPECT_EQ(print(NestedList{{1, 2}, {3, 4}}.data(DType::I32)), "[[1, 2],\n [3, 4]]");
  EXPECT_EQ(print(NestedList{1.5, -2.0}.data(DType::F16)), "[1.5, -2]");
  EXPECT_EQ(print(NestedList{true, false}.data(DType::Bool)), "[true, false]");
  EXPECT_THAT(error_of([] { NestedList{{1, 2}, {3}}; }), HasSubstr("rows of different sizes"));
}

TEST(Verify, NamesADivisionByZero) {
  const auto error = [](Expr size, Expr by) {
    Graph graph;
    prim::iota(graph, Expr::index(0, size) / by, {size}, DType::I64).output("y");
    return error_of([&] { verify(graph); });
  };
  EXPECT_THAT(error(4, 0), HasSubstr("divides by zero: i0 // 0"));
  EXPECT_EQ(error(0, 0), "no error");  // over no elements
  EXPECT_EQ(error(4, Expr::var("s")), "no error");
}

// What nodes read of a state is its value before the run: an output of it is such a node.
TEST(Graph, AnOutputOfAStateIsAViewOfIt) {
  Graph graph;
  Tensor state = graph.state("state", {3});
  Tensor output = state.output("y");
  EXPECT_NE(output.id(), state.id());
  EXPECT_EQ(graph.outputs()[0].node, output.id());
  EXPECT_EQ(graph.node(output.id()).op, Op::View);
  EXPECT_EQ(graph.input("x", {3}).output("x").id().index(), 2u);
}

TEST(TensorData, LongDimsPrintShortened) {
  std::vector<float> values(100);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  TensorData data = TensorData::copy_of<float>(values, {100});
  EXPECT_EQ(print(data, 4), "[0, 1, ..., 98, 99]");
  EXPECT_EQ(print(TensorData::zeros(DType::F32, {0, 3}).data), "[]");
}

TEST(TensorData, CastsAsTheCastOpDoes) {
  TensorData data = NestedList{1.9, -1.9, 300.0, 0.0}.data(DType::F32);
  EXPECT_EQ(data.cast(DType::U8).to_ints(), (std::vector<int64_t>{1, 255, 44, 0}));
  EXPECT_EQ(data.cast(DType::Bool).to_ints(), (std::vector<int64_t>{1, 1, 1, 0}));
}

}  // namespace
}  // namespace luminal
