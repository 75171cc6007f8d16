// Kernels whose rows share factors, as attention's do, and what masks by position leave of a row.
#include "luminal/kernel/recognise/row_block_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "luminal/graph/primitives.h"
#include "luminal/kernel/recognise/masked_range.h"
#include "luminal/luminal.h"
#include "tests/search/planned.h"

namespace luminal::kernel {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// The one kernel of a graph.
Kernel kernel_of(const Graph& graph) {
  const search::FoundPlan found = search::plan(graph, FusionPolicy::Always);
  EXPECT_THAT(found.plan.steps, SizeIs(1));
  return std::get<KernelStep>(found.plan.steps.front()).lowered.kernel;
}

struct Inputs {
  Graph graph;
  Tensor q, k, v;
  explicit Inputs(int64_t length = 96, DType dtype = DType::F32)
      : q(graph.input("q", {4, length, 32}, dtype)),
        k(graph.input("k", {4, length, 32}, dtype)),
        v(graph.input("v", {4, length, 32}, dtype)) {}
  Kernel attention(const AttentionOptions& options) {
    scaled_dot_product_attention(q, k, v, options).output("y");
    return kernel_of(graph);
  }
};

TEST(RowBlockForm, AttentionHasTwoContractionsOfItsQueries) {
  Inputs in;
  const auto form = row_block_form(in.attention({}));
  ASSERT_TRUE(form);
  EXPECT_EQ(form->rows, LoopId{1});
  EXPECT_THAT(form->contractions, SizeIs(2));
}

TEST(RowBlockForm, WorkIsCountedOnceForEachKindOfProduct) {
  Inputs in(96, DType::BF16);
  const Kernel kernel = in.attention({});
  const RowBlockWork work = work_of(kernel, *row_block_form(kernel));
  EXPECT_EQ(work.exact_products, Expr(4 * 96 * 96 * 32));
  EXPECT_EQ(work.half_products, Expr(4 * 96 * 96 * 32));
  EXPECT_EQ(work.products, Expr(0));
  EXPECT_EQ(work.shared, Expr(4 * 2 * 96 * 32));
  EXPECT_EQ(work.shared_points, Expr(4));
}

TEST(RowBlockForm, IsNotForFewRows) {
  Inputs in(4);
  EXPECT_FALSE(row_block_form(in.attention({})));
}

TEST(RowBlockForm, IsNotForRowsThatShareNothing) {
  Graph graph;
  softmax(graph.input("x", {64, 64}), -1).output("y");
  EXPECT_FALSE(row_block_form(kernel_of(graph)));
}

TEST(RowBlockForm, IsNotForFactorsTooLargeToCopy) {
  Graph graph;
  softmax(matmul(graph.input("x", {64, 4096}), graph.input("w", {4096, 4096})), -1).output("y");
  EXPECT_FALSE(row_block_form(kernel_of(graph)));
}

TEST(MaskedRange, OfACausalMaskEndsAtTheQuery) {
  Inputs in;
  const Kernel kernel = in.attention({.causal = true, .past = 3});
  const auto range = masked_range(kernel, LoopId{1});
  ASSERT_TRUE(range);
  EXPECT_THAT(range->first, IsEmpty());
  ASSERT_THAT(range->last, SizeIs(1));
  EXPECT_EQ(range->last[0].index, Expr::index(1, 96) + 3);
  EXPECT_TRUE(range->last[0].grows);
  EXPECT_TRUE(range->decides);
  EXPECT_THAT(range->loops, SizeIs(3)) << "of scores and weights, of the greatest, of their sum";
}

TEST(MaskedRange, OfAWindowStartsWhereItDoes) {
  Inputs in;
  const auto range = masked_range(in.attention({.causal = true, .window = Expr(8)}), LoopId{1});
  ASSERT_TRUE(range);
  ASSERT_THAT(range->first, SizeIs(1));
  EXPECT_EQ(range->first[0].index, Expr::index(1, 96) - 7);
  EXPECT_TRUE(range->first[0].grows);
  EXPECT_THAT(range->last, SizeIs(1));
}

TEST(MaskedRange, OfNoMaskIsNone) {
  Inputs in;
  EXPECT_FALSE(masked_range(in.attention({}), LoopId{1}));
}

// −inf + mask may be NaN at a hidden key, and is to be seen then.
TEST(MaskedRange, IsNoneWhereAFloatIsAddedToWhatIsHidden) {
  Inputs in;
  AttentionOptions options{.causal = true};
  options.mask = in.graph.input("mask", {96, 96});
  EXPECT_FALSE(masked_range(in.attention(options), LoopId{1}));
}

TEST(MaskedRange, StaysWithAMaskOfBoolsBesideIt) {
  Inputs in;
  AttentionOptions options{.causal = true};
  options.mask = in.graph.input("mask", {96, 96}, DType::Bool);
  EXPECT_TRUE(masked_range(in.attention(options), LoopId{1}));
}

// Hidden scores are 0 and not −inf: they count in the sum of weights.
TEST(MaskedRange, IsNoneWhereHiddenPointsCount) {
  for (double hidden : {0.0, -1e9}) {
    Inputs in;
    const Tensor seen =
        prim::iota(in.graph, Expr::index(1, 96) >= Expr::index(2, 96), {4, 96, 96}, DType::Bool);
    const Tensor scores = where(seen, matmul(in.q, in.k.t()), hidden);
    matmul(softmax(scores, -1), in.v).output("y");
    EXPECT_FALSE(masked_range(kernel_of(in.graph), LoopId{1})) << hidden;
  }
}

// What is stored must be stored for all keys.
TEST(MaskedRange, IsNoneWhereWeightsAreStored) {
  Inputs in;
  const Tensor seen =
      prim::iota(in.graph, Expr::index(1, 96) >= Expr::index(2, 96), {4, 96, 96}, DType::Bool);
  softmax(where(seen, matmul(in.q, in.k.t()), kMinusInfinity), -1).output("y");
  const Kernel kernel = kernel_of(in.graph);
  EXPECT_TRUE(row_block_form(kernel));
  EXPECT_FALSE(masked_range(kernel, LoopId{1}));
}

}  // namespace
}  // namespace luminal::kernel
