#include "luminal/graph/interpret/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "luminal/base/errors.h"
#include "luminal/graph/custom_op.h"
#include "luminal/graph/interpret/storage_plan.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/tensor.h"

namespace luminal::interpret {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Runs one node of a graph whose leaves all have data.
TensorData value(Graph& graph, const Tensor& node, Options options = {}, Bindings bindings = {}) {
  Interpreter interpreter(
      graph, std::move(bindings), [&](NodeId id) { return *graph.data(id); }, options);
  const NodeId id = node.id();
  return interpreter.values({&id, 1})[0];
}

std::vector<double> doubles(Graph& graph, const Tensor& node) {
  return value(graph, node).to_doubles();
}

TEST(Interpreter, RoundsOncePerOpInTheDeclaredDtype) {
  Graph graph;
  // 256 + 1 is not a bf16; ties go to even.
  Tensor a = graph.literal(NestedList{256.0, 258.0}, DType::BF16);
  Tensor one = prim::full_like(a, 1);
  EXPECT_THAT(doubles(graph, prim::add(a, one)), ElementsAre(256.0, 260.0));
  // The yardstick does not round.
  EXPECT_THAT(value(graph, prim::add(a, one), {.precision = Precision::Float64}).to_doubles(),
              ElementsAre(257.0, 259.0));
}

TEST(Interpreter, LogicInIndexExpressionsGivesZeroOrOne) {
  Graph graph;
  const Expr i = Expr::index(0, 5);
  const auto iota = [&](Expr expr) {
    return doubles(graph, prim::iota(graph, expr, {5}, DType::I64));
  };
  EXPECT_THAT(iota(i && 7), ElementsAre(0, 1, 1, 1, 1));
  EXPECT_THAT(iota(i || 0), ElementsAre(0, 1, 1, 1, 1));
  EXPECT_THAT(iota(i && i), ElementsAre(0, 1, 1, 1, 1));
  EXPECT_THAT(iota((i && 7) * 3), ElementsAre(0, 3, 3, 3, 3));
  EXPECT_THAT(iota((i - 2) || (i - 3)), ElementsAre(1, 1, 1, 1, 1));
}

TEST(Interpreter, DivisionByAZeroVariableGivesZero) {
  Graph graph;
  const Expr i = Expr::index(0, 3), s = Expr::var("s", -2, 2);
  for (Expr expr : {(i + 1) / s, (i + 1) % s, ceil_div(i + 1, s)}) {
    EXPECT_THAT(value(graph, prim::iota(graph, expr, {3}, DType::I64), {}, {{"s", 0}}).to_doubles(),
                ElementsAre(0, 0, 0));
  }
}

TEST(Interpreter, IntegersWrap) {
  Graph graph;
  Tensor a = graph.literal(NestedList{127, -128, 100}, DType::I8);
  Tensor b = graph.literal(NestedList{1, -1, 100}, DType::I8);
  EXPECT_THAT(doubles(graph, prim::add(a, b)), ElementsAre(-128, 127, -56));
  EXPECT_THAT(doubles(graph, prim::mul(a, b)), ElementsAre(127, -128, 16));
  Tensor low = graph.literal(NestedList{INT64_MIN, int64_t{7}, int64_t{-7}}, DType::I64);
  Tensor by = graph.literal(NestedList{-1, 0, 2}, DType::I64);
  EXPECT_EQ(value(graph, prim::int_div(low, by)).to_ints(),
            (std::vector<int64_t>{INT64_MIN, 0, -3}));
  EXPECT_EQ(value(graph, prim::mod(low, by)).to_ints(), (std::vector<int64_t>{0, 7, -1}));
}

TEST(Interpreter, EmptyReductionsGiveTheIdentity) {
  Graph graph;
  for (DType dtype : {DType::F32, DType::I32, DType::U8, DType::I64, DType::Bool}) {
    Tensor empty = graph.literal(TensorData::zeros(dtype, {2, 0}).data);
    EXPECT_THAT(doubles(graph, prim::reduce(empty, Reducer::Sum)), ElementsAre(0, 0));
    EXPECT_THAT(doubles(graph, prim::reduce(empty, Reducer::Prod)), ElementsAre(1, 1));
  }
  Tensor reals = graph.literal(TensorData::zeros(DType::F16, {1, 0}).data);
  EXPECT_EQ(doubles(graph, prim::reduce(reals, Reducer::Max))[0], -INFINITY);
  Tensor ints = graph.literal(TensorData::zeros(DType::I64, {1, 0}).data);
  EXPECT_EQ(value(graph, prim::reduce(ints, Reducer::Max)).to_ints()[0], INT64_MIN);
  Tensor bytes = graph.literal(TensorData::zeros(DType::I8, {1, 0}).data);
  EXPECT_EQ(doubles(graph, prim::reduce(bytes, Reducer::Max))[0], -128);
}

TEST(Interpreter, MaxPrefersNanAndPositiveZero) {
  Graph graph;
  Tensor x = graph.literal(NestedList{{1.0, NAN, 2.0}, {-0.0, 0.0, -0.0}});
  std::vector<double> max = doubles(graph, prim::reduce(x, Reducer::Max));
  EXPECT_TRUE(std::isnan(max[0]));
  EXPECT_FALSE(std::signbit(max[1]));
}

TEST(Interpreter, ScansAreInclusiveAndCrossBlocks) {
  Graph graph;
  Tensor x = prim::full(graph, {2, 3000}, 1, DType::I32);
  std::vector<double> sums = doubles(graph, prim::scan(x, Reducer::Sum));
  EXPECT_EQ(sums[0], 1);
  EXPECT_EQ(sums[2999], 3000);
  EXPECT_EQ(sums[3000], 1);
}

TEST(Interpreter, ScatterLastOfEqualIndicesWins) {
  Graph graph;
  Tensor dest = graph.literal(NestedList{{0, 0}, {1, 1}, {2, 2}});
  Tensor index = graph.literal(NestedList{2, 0, 2}, DType::I64);
  Tensor values = graph.literal(NestedList{{5, 6}, {7, 8}, {9, 10}});
  EXPECT_THAT(doubles(graph, prim::scatter(dest, index, values)), ElementsAre(7, 8, 1, 1, 9, 10));
  EXPECT_THAT(doubles(graph, prim::scatter(dest, index, values, Reducer::Sum)),
              ElementsAre(7, 8, 1, 1, 16, 18));
}

TEST(Interpreter, AnIndexOutsideIsReported) {
  Graph graph;
  Tensor data = graph.literal(NestedList{1, 2, 3});
  Tensor index = graph.literal(NestedList{1, 3}, DType::I64);
  try {
    doubles(graph, prim::gather(data, index));
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("index 3 at [1] is outside 0 … 2: there are 3 rows"));
  }
}

TEST(Interpreter, ReadsPackedFourBitElements) {
  Graph graph;
  const std::byte bytes[] = {std::byte{0x21}, std::byte{0xf3}};
  Tensor packed = graph.literal(TensorData::copy_bytes(DType::U4, bytes, {4}));
  EXPECT_THAT(doubles(graph, prim::cast(packed, DType::F32)), ElementsAre(1, 2, 3, 15));
}

TEST(Interpreter, CustomOpsRunTheirCallback) {
  Graph graph;
  Tensor x = graph.literal(NestedList{{1, 2}, {3, 4}});
  CustomOp transpose_sum{.name = "column_sum",
                         .shape_rule =
                             [](const std::vector<TensorType>& in) {
                               return TensorType{{in[0].dims[1]}, in[0].dtype};
                             },
                         .compute =
                             [](const std::vector<TensorData>& in, TensorData::Writable& out) {
                               std::vector<double> values = in[0].to_doubles();
                               auto* result = reinterpret_cast<float*>(out.bytes.data());
                               result[0] = static_cast<float>(values[0] + values[2]);
                               result[1] = static_cast<float>(values[1] + values[3]);
                             }};
  EXPECT_THAT(doubles(graph, custom_op(transpose_sum, {x})), ElementsAre(4, 6));
}

// [m, k] · [k, n] as an expanded product: m·n·k elements that nobody stores.
Tensor product(const Tensor& a, const Tensor& b) {
  const Expr m = a.dim(0);
  const Expr k = a.dim(1);
  const Expr n = b.dim(1);
  const Dims dims = {m, n, k};
  auto index = [&](int axis) { return Expr::index(axis, dims[static_cast<size_t>(axis)]); };
  Tensor left = prim::view(a, IndexMap(dims, a.dims(), {index(0), index(2)}));
  Tensor right = prim::view(b, IndexMap(dims, b.dims(), {index(2), index(1)}));
  return prim::reduce(prim::mul(left, right), Reducer::Sum);
}

TEST(Interpreter, NeverStoresAnExpandedProduct) {
  Graph graph;
  Tensor a = graph.input("a", {64, 64});
  Tensor b = graph.input("b", {64, 64});
  Tensor c = product(product(a, b), b);
  std::vector<int64_t> elements(graph.size());
  for (uint32_t i = 0; i < graph.size(); ++i) {
    elements[i] = *n_elements(graph.node(NodeId{i}).dims).to_int();
  }
  const NodeId root = c.id();
  StoragePlan plan = plan_storage(graph, {&root, 1}, elements);
  ASSERT_EQ(plan.steps.size(), 2u);
  for (NodeId id : plan.steps) EXPECT_EQ(graph.node(id).op, Op::Reduce);
  // The first product is freed once the second is done.
  EXPECT_THAT(plan.finished[1], ElementsAre(plan.steps[0]));
}

TEST(Interpreter, ComputesChosenElementsOfALargeGraph) {
  // Two products of 4096³: all elements would take hours, three of them a moment.
  Graph graph;
  Expr n = 4096;
  auto at = [&](int axis) { return Expr::index(axis, n); };
  Tensor a = prim::iota(graph, (at(0) * 3 + at(1)) % 7 - 3, {n, n}, DType::F32);
  Tensor b = prim::iota(graph, (at(0) + at(1) * 5) % 5 - 2, {n, n}, DType::F32);
  Tensor c = product(product(a, b), b);
  Interpreter interpreter(graph, {}, [](NodeId) { return TensorData{}; });
  const int64_t positions[] = {0, 4096 * 4095 + 17, 4096 * 4096 - 1};
  std::vector<double> some = interpreter.elements(c.id(), positions);
  // The same by plain loops, on the rows and columns that matter.
  auto a_at = [](int64_t i, int64_t j) { return static_cast<double>((i * 3 + j) % 7 - 3); };
  auto b_at = [](int64_t i, int64_t j) { return static_cast<double>((i + j * 5) % 5 - 2); };
  for (size_t p = 0; p < 3; ++p) {
    const int64_t i = positions[p] / 4096;
    const int64_t j = positions[p] % 4096;
    double total = 0;
    for (int64_t k = 0; k < 4096; ++k) {
      double inner = 0;
      for (int64_t l = 0; l < 4096; ++l) inner += a_at(i, l) * b_at(l, k);
      total += inner * b_at(k, j);
    }
    EXPECT_EQ(some[p], total);
  }
}

TEST(Interpreter, ChosenElementsEqualTheWhole) {
  Graph graph;
  std::vector<float> values(7 * 9);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  Tensor x = graph.literal(TensorData::copy_of<float>(values, {7, 9}));
  Tensor e = prim::exp2(prim::scan(x, Reducer::Sum));
  Tensor total = prim::reduce(e, Reducer::Sum);
  Tensor spread = prim::view(total, IndexMap({7, 9}, {7}, {Expr::index(0, 7)}));
  Tensor y = prim::mul(e, prim::recip(spread));
  std::vector<double> whole = doubles(graph, y);
  std::vector<int64_t> positions = {62, 0, 31, 31, 5};
  Interpreter interpreter(graph, {}, [&](NodeId id) { return *graph.data(id); });
  std::vector<double> some = interpreter.elements(y.id(), positions);
  for (size_t i = 0; i < positions.size(); ++i) {
    EXPECT_EQ(some[i], whole[static_cast<size_t>(positions[i])]);
  }
}

TEST(Interpreter, LongChainsNeitherExplodeNorOverflow) {
  Graph graph;
  Tensor x = graph.literal(NestedList{1.0, 2.0});
  Tensor y = x;
  // Each step reads the one before twice: computed anew it would take 2^20000 ops.
  for (int i = 0; i < 20000; ++i) y = prim::mul(prim::add(y, y), prim::full_like(y, 0.5));
  EXPECT_THAT(doubles(graph, y), ElementsAre(1.0, 2.0));
  Interpreter interpreter(graph, {}, [&](NodeId id) { return *graph.data(id); });
  const int64_t position[] = {1};
  EXPECT_THAT(interpreter.elements(y.id(), position), ElementsAre(2.0));
}

TEST(Interpreter, DebugPrintsEachStepWithShapeAndTime) {
  Graph graph;
  Tensor x = graph.literal(NestedList{{1.0, 2.0}});
  std::ostringstream out;
  value(graph, prim::reduce(x, Reducer::Sum), {.debug = &out});
  EXPECT_THAT(out.str(), HasSubstr("step 1/1  %1 (reduce)  f32[1]"));
  EXPECT_THAT(out.str(), HasSubstr(" ms\n"));
}

}  // namespace
}  // namespace luminal::interpret
