// Composites: what they are made of, their types and dims, their errors, and values where a dim is
// symbolic. Values over all dtypes and layouts are the conformance matrix's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "luminal/base/errors.h"
#include "luminal/graph/composite/activation.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/attention.h"
#include "luminal/graph/composite/conv.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/graph/composite/loss.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/movement.h"
#include "luminal/graph/composite/norm.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/graph/composite/rotary.h"
#include "luminal/graph/composite/softmax.h"
#include "luminal/graph/interpret/interpreter.h"

namespace luminal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

int count(const Graph& graph, Op op) {
  int found = 0;
  for (size_t i = 0; i < graph.size(); ++i) {
    if (graph.node(NodeId(static_cast<uint32_t>(i))).op == op) ++found;
  }
  return found;
}

std::string composite_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

// The value of `x` with leaves 0, 1, 2 … in row-major order and the given variables.
std::vector<double> evaluated(const Tensor& x, const Bindings& bindings = {}) {
  const Graph& graph = x.graph();
  auto leaf = [&](NodeId id) {
    std::vector<int64_t> dims;
    int64_t size = 1;
    for (Expr dim : graph.node(id).dims) {
      dims.push_back(*dim.evaluate(bindings).value);
      size *= dims.back();
    }
    std::vector<double> values;
    for (int64_t i = 0; i < size; ++i) values.push_back(static_cast<double>(i));
    return TensorData::copy_of<double>(values, dims).cast(graph.node(id).dtype);
  };
  interpret::Interpreter interpreter(graph, bindings, leaf);
  const NodeId ids[] = {x.id()};
  return interpreter.values(ids)[0].to_doubles();
}

TEST(Composite, MatmulIsOneSumOfOneProductOfTwoViews) {
  Graph graph;
  const Tensor a = graph.input("a", {2, 3});
  const Tensor product = matmul(a, graph.input("b", {3, 4}));
  EXPECT_EQ(text(product.dims()), "[2, 4]");
  EXPECT_EQ(graph.size(), 6u);
  EXPECT_EQ(count(graph, Op::View), 2);
  EXPECT_EQ(product.node().op, Op::Reduce);
  const Node& mul = graph.node(product.node().inputs[0]);
  EXPECT_EQ(mul.op, Op::Mul);
  EXPECT_EQ(text(mul.dims), "[2, 4, 3]") << "k is innermost";
}

TEST(Composite, MatmulOfHalvesSumsInF32AndRoundsOnce) {
  Graph graph;
  const Tensor product =
      matmul(graph.input("a", {2, 3}, DType::BF16), graph.input("b", {3, 4}, DType::BF16));
  EXPECT_EQ(product.dtype(), DType::BF16);
  EXPECT_EQ(count(graph, Op::Cast), 3);
  EXPECT_EQ(graph.node(product.node().inputs[0]).op, Op::Reduce);
  EXPECT_EQ(graph.node(product.node().inputs[0]).dtype, DType::F32);
}

TEST(Composite, ReducingSeveralAxesIsOneReduce) {
  Graph graph;
  const Tensor x = graph.input("x", {2, 3, 4});
  const Tensor total = sum(x, {0, -1}, {.keepdim = true});
  EXPECT_EQ(text(total.dims()), "[1, 3, 1]");
  EXPECT_EQ(count(graph, Op::Reduce), 1);
  EXPECT_THAT(evaluated(total), ElementsAre(60, 92, 124));
}

TEST(Composite, DivisionTakesTheReciprocalBeforeItBroadcasts) {
  Graph graph;
  const Tensor quotient = graph.input("x", {8, 8}) / graph.input("y", {8, 1});
  EXPECT_EQ(count(graph, Op::Recip), 1);
  for (size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph.node(NodeId(static_cast<uint32_t>(i)));
    if (node.op == Op::Recip) {
      EXPECT_EQ(text(node.dims), "[8, 1]");
    }
  }
  EXPECT_EQ(text(quotient.dims()), "[8, 8]");
}

TEST(Composite, DTypesPromoteAsInPyTorch) {
  Graph graph;
  auto input = [&](DType dtype, Dims dims) {
    return graph.input("x" + std::to_string(graph.size()), std::move(dims), dtype);
  };
  EXPECT_EQ((input(DType::U8, {3}) + input(DType::I8, {3})).dtype(), DType::I16);
  EXPECT_EQ((input(DType::F16, {3}) * input(DType::BF16, {3})).dtype(), DType::F32);
  EXPECT_EQ((input(DType::I32, {3}) / 2).dtype(), DType::F32);
  EXPECT_EQ((input(DType::F16, {3}) + 2.5).dtype(), DType::F16);
  EXPECT_EQ((input(DType::Bool, {3}) + 1).dtype(), DType::I64);
  EXPECT_EQ((input(DType::F32, {3}) + input(DType::F64, {})).dtype(), DType::F32);
  EXPECT_EQ((input(DType::I32, {3}) + input(DType::F64, {})).dtype(), DType::F64);
  EXPECT_EQ(sum(input(DType::Bool, {3})).dtype(), DType::I64);
  EXPECT_EQ(exp(input(DType::I8, {3})).dtype(), DType::F32);
}

TEST(Composite, BroadcastErrorsNameTheAxisAndTheWayOut) {
  Graph graph;
  const Tensor a = graph.input("a", {2, 3});
  const Tensor b = graph.input("b", {4, 5});
  EXPECT_EQ(composite_error([&] { a + b; }),
            "add: dims [2, 3] and [4, 5] don't broadcast: axis 1 is 3 and 5; reshape or expand one "
            "of them");
}

TEST(Composite, AxisErrorsNameTheOpAndTheRange) {
  Graph graph;
  const Tensor x = graph.input("x", {2, 3});
  EXPECT_EQ(composite_error([&] { softmax(x, 3); }),
            "softmax: axis 3 is out of range for [2, 3]; use -2 … 1");
  EXPECT_THAT(composite_error([&] { sum(x, {0, -2}); }),
              HasSubstr("axis 0 of [2, 3] is named twice"));
  EXPECT_THAT(composite_error([&] { x.reshape({4, -1}); }), HasSubstr("multiple of 4"));
  EXPECT_THAT(composite_error([&] { x.permute({0, 0}); }), HasSubstr("[0, 0]"));
  EXPECT_THAT(composite_error([&] { matmul(x, x); }), HasSubstr("inner sizes differ"));
  EXPECT_THAT(composite_error([&] { mean(x.cast(DType::I32)); }), HasSubstr("cast it to f32"));
}

TEST(Composite, TheLeastIntegerHasAMinimum) {
  Graph graph;
  const Tensor x = graph.literal(NestedList{-128, 5, 127}, DType::I8);
  Tensor least = min(x);
  interpret::Interpreter interpreter(graph, {}, [&](NodeId id) { return *graph.data(id); });
  const NodeId ids[] = {least.id()};
  EXPECT_THAT(interpreter.values(ids)[0].to_ints(), ElementsAre(-128));
}

TEST(Composite, SymbolicDimsOfAnySizeConcatenate) {
  Graph graph;
  const Expr s = Expr::var("s");
  const Expr t = Expr::var("t");
  const Tensor joined = concat({graph.input("a", {s}), graph.input("b", {t}) + 10});
  EXPECT_EQ(joined.dim(0), s + t);
  EXPECT_THAT(evaluated(joined, {{"s", 2}, {"t", 3}}), ElementsAre(0, 1, 10, 11, 12));
  EXPECT_THAT(evaluated(joined, {{"s", 0}, {"t", 2}}), ElementsAre(10, 11));
  EXPECT_THAT(evaluated(joined, {{"s", 2}, {"t", 0}}), ElementsAre(0, 1));
}

TEST(Composite, ASymbolicDimPadsAndCrops) {
  Graph graph;
  const Expr s = Expr::var("s");
  const Tensor x = graph.input("x", {s});
  const Tensor padded = pad(x, {{1, 2}}, 7);
  EXPECT_EQ(padded.dim(0), s + 3);
  EXPECT_THAT(evaluated(padded, {{"s", 2}}), ElementsAre(7, 0, 1, 7, 7));
  EXPECT_THAT(evaluated(padded, {{"s", 0}}), ElementsAre(7, 7, 7));
  EXPECT_THAT(evaluated(pad(x, {{-1, 1}}, 7), {{"s", 3}}), ElementsAre(1, 2, 7));
}

TEST(Composite, SlicesOfASymbolicDimClampConstantsAsPython) {
  Graph graph;
  const Tensor x = graph.input("x", {Expr::var("s")});
  EXPECT_THAT(evaluated(x.slice(0, 1, 4), {{"s", 3}}), ElementsAre(1, 2));
  EXPECT_THAT(evaluated(x.slice(0, -2, 100), {{"s", 5}}), ElementsAre(3, 4));
  EXPECT_THAT(evaluated(x.slice_from(0, Expr::var("p")), {{"s", 5}, {"p", 4}}), ElementsAre(4));
  EXPECT_THAT(evaluated(x.slice(0, 0, 100, 2), {{"s", 5}}), ElementsAre(0, 2, 4));
}

TEST(Composite, MeanAndVarianceCountASymbolicDim) {
  Graph graph;
  const Tensor x = graph.input("x", {Expr::var("s"), 2});
  EXPECT_THAT(evaluated(mean(x, 0), {{"s", 3}}), ElementsAre(2, 3));
  EXPECT_THAT(evaluated(var(x, 0), {{"s", 3}}), ElementsAre(4, 4));
  EXPECT_TRUE(std::isnan(evaluated(mean(x, 0), {{"s", 0}})[0]));
}

TEST(Composite, ArgmaxOfASymbolicDimIsTheFirstMaximum) {
  Graph graph;
  const Tensor x = graph.input("x", {Expr::var("s")});
  EXPECT_THAT(evaluated(argmax(clamp(x, std::nullopt, 3)), {{"s", 9}}), ElementsAre(3));
  EXPECT_THAT(evaluated(argmin(x * 0.0), {{"s", 9}}), ElementsAre(0));
}

// With one query, keys up to `past` are seen: the mean of their values when all scores are equal.
TEST(Composite, CausalAttentionSeesThePast) {
  Graph graph;
  const Expr t = Expr::var("t", 1);
  const Tensor q = zeros(graph, {2, 1, 4});
  const Tensor k = zeros(graph, {1, t, 4});
  const Tensor v = graph.input("v", {1, t, 1});
  const Tensor seen =
      scaled_dot_product_attention(q, k, v, {.causal = true, .past = Expr::var("p")});
  EXPECT_EQ(text(seen.dims()), "[2, 1, 1]");
  EXPECT_THAT(evaluated(seen, {{"t", 6}, {"p", 2}}), ElementsAre(1, 1));
  EXPECT_THAT(evaluated(seen, {{"t", 6}, {"p", 5}}), ElementsAre(2.5, 2.5));
}

TEST(Composite, GroupedKvHeadsServeNeighbouringQueryHeads) {
  Graph graph;
  const Tensor v = graph.input("v", {2, 1, 1});
  const Tensor k = zeros(graph, {2, 1, 8});
  const Tensor attended = scaled_dot_product_attention(zeros(graph, {4, 3, 8}), k, v);
  EXPECT_THAT(evaluated(attended), ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1));
}

TEST(Composite, RotaryNeedsNoConcatAndKeepsPositionZero) {
  Graph graph;
  const Tensor x = graph.input("x", {Expr::var("s"), 4});
  const Tensor turned = rotary_embedding(x);
  EXPECT_EQ(count(graph, Op::Select), 0);
  EXPECT_THAT(evaluated(turned, {{"s", 1}}), ElementsAre(0, 1, 2, 3));
}

TEST(Composite, AnIndexOutsideItsAxisIsAnErrorEvenWhereItsFlatPositionExists) {
  Graph graph;
  const Tensor x = graph.input("x", {2, 2});
  const Tensor index = graph.input("i", {1, 4}, DType::I64);  // 0 … 3, of which 2 and 3 are outside
  EXPECT_THROW(evaluated(gather(x, 1, index)), std::exception);
}

TEST(Composite, ConvolutionOfASymbolicLengthHasItsSymbolicSize) {
  Graph graph;
  const Expr s = Expr::var("s", 3);
  const Tensor x = graph.input("x", {1, 1, s});
  const Tensor y = conv1d(x, ones(graph, {1, 1, 3}), std::nullopt, {.stride = 2, .padding = 1});
  EXPECT_THAT(evaluated(y, {{"s", 5}}), ElementsAre(1, 6, 7));
  EXPECT_THAT(evaluated(max_pool1d(x, 2), {{"s", 5}}), ElementsAre(1, 3));
}

TEST(Composite, CompoundAssignmentRebindsTheHandle) {
  Graph graph;
  const Tensor x = graph.input("x", {3});
  Tensor y = x;
  y += 1;
  y *= x;
  EXPECT_THAT(evaluated(y), ElementsAre(0, 2, 6));
  EXPECT_THAT(evaluated(x), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace luminal
