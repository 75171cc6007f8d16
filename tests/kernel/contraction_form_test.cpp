#include "luminal/kernel/recognise/contraction_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/cpu/kernel_builder.h"

namespace luminal::kernel {
namespace {

using backends::cpu::KernelBuilder;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kBatch = 5, kRows = 7, kColumns = 11, kDepth = 13;

// A product in the making: its outer loops first, then the loop along which it sums.
struct Product {
  KernelBuilder b;
  std::vector<Expr> outer;
  Expr k;

  explicit Product(const std::vector<int64_t>& sizes, int64_t depth = kDepth) {
    for (int64_t size : sizes) outer.push_back(b.outer(size));
    k = b.inner(depth);
  }

  ParamId tensor(const std::vector<Expr>& index, DType dtype = DType::F32) {
    Dims dims;
    for (Expr e : index) dims.push_back(e.upper_bound() + 1);
    return b.param(dtype, dims);
  }
  // A stage that sums x · y, one load each, widened where they are halves.
  void add_sum(const std::vector<Expr>& x, const std::vector<Expr>& y, DType dtype = DType::F32,
               Reducer reducer = Reducer::Sum) {
    const ParamId left = tensor(x, dtype), right = tensor(y, dtype);
    const DType wide = is_half(dtype) ? DType::F32 : dtype;
    auto stage = b.stage(wide, {}, Reduction{reducer, b.last_loop()});
    InstId first = stage.load(b.k, left, x), second = stage.load(b.k, right, y);
    if (wide != dtype) {
      first = stage.op(Op::Cast, wide, {first});
      second = stage.op(Op::Cast, wide, {second});
    }
    stage.op(Op::Mul, wide, {first, second});
  }
  // Stores what the last stage computes, as [outer…].
  Kernel done() {
    Dims dims;
    for (Expr e : outer) dims.push_back(e.upper_bound() + 1);
    b.output(b.param(b.k.stages.back().dtype, dims, true), outer);
    return b.done();
  }
};

// The param that a factor loads.
ParamId param_of(const Kernel& kernel, const Contraction& contraction, InstId factor) {
  const Stage& stage = kernel.stages[contraction.stage];
  return std::get<LoadInst>(stage.body[factor.index()].what).param;
}

TEST(ContractionForm, RowsAreTheLeftFactorsColumnsTheRightOnes) {
  Product p({kRows, kColumns});
  p.add_sum({p.outer[0], p.k}, {p.k, p.outer[1]});
  const Kernel kernel = p.done();
  const auto form = contraction_form(kernel);
  ASSERT_TRUE(form.has_value());
  EXPECT_THAT(form->rows, ElementsAre(LoopId{0}));
  EXPECT_THAT(form->columns, ElementsAre(LoopId{1}));
  EXPECT_THAT(form->batch, IsEmpty());
  ASSERT_EQ(form->contractions.size(), 1u);
  EXPECT_EQ(form->contractions[0].k, LoopId{2});
  EXPECT_EQ(param_of(kernel, form->contractions[0], form->contractions[0].left), ParamId{0});
  EXPECT_EQ(param_of(kernel, form->contractions[0], form->contractions[0].right), ParamId{1});
}

TEST(ContractionForm, TheFactorOfTheLastLoopIsTheRightOneWhereverItStands) {
  Product p({kRows, kColumns});
  p.add_sum({p.k, p.outer[1]}, {p.outer[0], p.k});
  const Kernel kernel = p.done();
  const auto form = contraction_form(kernel);
  ASSERT_TRUE(form.has_value());
  EXPECT_THAT(form->rows, ElementsAre(LoopId{0}));
  EXPECT_THAT(form->columns, ElementsAre(LoopId{1}));
  EXPECT_EQ(param_of(kernel, form->contractions[0], form->contractions[0].left), ParamId{1});
  EXPECT_EQ(param_of(kernel, form->contractions[0], form->contractions[0].right), ParamId{0});
}

TEST(ContractionForm, HowAFactorLiesInMemoryChangesNothing) {
  Product p({kRows, kColumns});
  p.add_sum({p.k, p.outer[0]}, {p.outer[1], p.k});
  const auto form = contraction_form(p.done());
  ASSERT_TRUE(form.has_value());
  EXPECT_THAT(form->rows, ElementsAre(LoopId{0}));
  EXPECT_THAT(form->columns, ElementsAre(LoopId{1}));
}

TEST(ContractionForm, LoopsOfBothFactorsAreBatches) {
  Product p({kBatch, kRows, kColumns});
  p.add_sum({p.outer[0], p.outer[1], p.k}, {p.outer[0], p.k, p.outer[2]});
  const auto form = contraction_form(p.done());
  ASSERT_TRUE(form.has_value());
  EXPECT_THAT(form->batch, ElementsAre(LoopId{0}));
  EXPECT_THAT(form->rows, ElementsAre(LoopId{1}));
  EXPECT_THAT(form->columns, ElementsAre(LoopId{2}));
}

TEST(ContractionForm, ABatchThatOneFactorLacksMakesMoreRowsOrColumns) {
  Product shared_right({kBatch, kRows, kColumns});
  shared_right.add_sum({shared_right.outer[0], shared_right.outer[1], shared_right.k},
                       {shared_right.k, shared_right.outer[2]});
  const auto rows = contraction_form(shared_right.done());
  ASSERT_TRUE(rows.has_value());
  EXPECT_THAT(rows->rows, ElementsAre(LoopId{0}, LoopId{1}));

  Product shared_left({kBatch, kRows, kColumns});
  shared_left.add_sum({shared_left.outer[1], shared_left.k},
                      {shared_left.outer[0], shared_left.k, shared_left.outer[2]});
  const auto columns = contraction_form(shared_left.done());
  ASSERT_TRUE(columns.has_value());
  EXPECT_THAT(columns->columns, ElementsAre(LoopId{0}, LoopId{2}));
  EXPECT_THAT(columns->rows, ElementsAre(LoopId{1}));
}

TEST(ContractionForm, ALoopOfNeitherFactorIsABatch) {
  Product p({kBatch, kRows, kColumns});
  p.add_sum({p.outer[1], p.k}, {p.k, p.outer[2]});
  const auto form = contraction_form(p.done());
  ASSERT_TRUE(form.has_value());
  EXPECT_THAT(form->batch, ElementsAre(LoopId{0}));
}

TEST(ContractionForm, GroupedHeadsAreABatchOfBoth) {
  Product p({6, kRows, kColumns});
  p.add_sum({p.outer[0], p.outer[1], p.k}, {p.outer[0] / 3, p.k, p.outer[2]});
  const auto form = contraction_form(p.done());
  ASSERT_TRUE(form.has_value());
  EXPECT_THAT(form->batch, ElementsAre(LoopId{0}));
}

TEST(ContractionForm, WindowsOfTheLastLoopMakeItAColumn) {
  // A convolution: out[o, x] = Σ w[o, k] · image[x + k].
  Product p({kRows, kColumns});
  p.add_sum({p.outer[0], p.k}, {p.outer[1] + p.k});
  const auto form = contraction_form(p.done());
  ASSERT_TRUE(form.has_value());
  EXPECT_THAT(form->rows, ElementsAre(LoopId{0}));
  EXPECT_THAT(form->columns, ElementsAre(LoopId{1}));
}

TEST(ContractionForm, LoopsOfOneStepBelongNowhere) {
  Product p({1, kColumns, 1});
  p.add_sum({p.outer[0], p.k}, {p.k, p.outer[1]});
  const auto form = contraction_form(p.done());
  ASSERT_TRUE(form.has_value());
  EXPECT_THAT(form->batch, IsEmpty());
  EXPECT_THAT(form->rows, IsEmpty());
  EXPECT_THAT(form->columns, ElementsAre(LoopId{1}));
}

TEST(ContractionForm, SumsOfOneKernelShareTheirRowsAndColumns) {
  Product gate_and_up({kRows, kColumns});
  const auto& [m, n] = std::pair(gate_and_up.outer[0], gate_and_up.outer[1]);
  gate_and_up.add_sum({m, gate_and_up.k}, {gate_and_up.k, n});
  gate_and_up.add_sum({gate_and_up.k, n}, {m, gate_and_up.k});
  auto stage = gate_and_up.b.stage(DType::F32);
  const InstId gate = stage.local(DType::F32, StageId{0}), up = stage.local(DType::F32, StageId{1});
  stage.op(Op::Mul, DType::F32, {gate, up});
  const auto form = contraction_form(gate_and_up.done());
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(form->contractions.size(), 2u);
  EXPECT_EQ(form->contractions[1].stage, StageId{1});

  Product other({kRows, kColumns});
  other.add_sum({other.outer[0], other.k}, {other.k, other.outer[1]});
  other.add_sum({other.k}, {other.k, other.outer[1]});
  auto both = other.b.stage(DType::F32);
  const InstId first = both.local(DType::F32, StageId{0}),
               second = both.local(DType::F32, StageId{1});
  both.op(Op::Add, DType::F32, {first, second});
  EXPECT_FALSE(contraction_form(other.done()).has_value());
}

TEST(ContractionForm, AFactorMayBeComputed) {
  Product p({kRows, kColumns});
  const std::vector<Expr> x = {p.outer[0], p.k}, y = {p.k, p.outer[1]};
  const ParamId a = p.tensor(x), q = p.tensor(y, DType::I8), scale = p.tensor({p.outer[1]});
  auto stage = p.b.stage(DType::F32, {}, Reduction{Reducer::Sum, p.b.last_loop()});
  const InstId left = stage.load(p.b.k, a, x);
  const InstId whole = stage.op(Op::Cast, DType::F32, {stage.load(p.b.k, q, y)});
  const InstId right =
      stage.op(Op::Mul, DType::F32, {whole, stage.load(p.b.k, scale, {p.outer[1]})});
  stage.op(Op::Mul, DType::F32, {left, right});
  const Kernel kernel = p.done();
  const auto form = contraction_form(kernel);
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(form->contractions[0].right, right);

  // A stage of its own holds what the factor needs, and nothing else.
  const Stage factor = factor_stage(kernel.stages.front(), right);
  ASSERT_EQ(factor.body.size(), 4u);
  EXPECT_EQ(factor.result, InstId{3});
  EXPECT_EQ(std::get<LoadInst>(factor.body[0].what).param, q);
  EXPECT_EQ(std::get<OpInst>(factor.body[1].what).operands, std::vector<InstId>{InstId{0}});
  EXPECT_EQ(std::get<LoadInst>(factor.body[2].what).param, scale);
  EXPECT_FALSE(factor.reduction.has_value());
}

TEST(ContractionForm, IsNoneWithoutAColumn) {
  Product square({kRows, kColumns});
  square.add_sum({square.outer[1], square.k}, {square.outer[1], square.k});
  EXPECT_FALSE(contraction_form(square.done()).has_value());

  Product dot({1, 1});
  dot.add_sum({dot.k}, {dot.k});
  EXPECT_FALSE(contraction_form(dot.done()).has_value());
}

TEST(ContractionForm, IsNoneForOtherReductions) {
  for (Reducer reducer : {Reducer::Max, Reducer::Prod}) {
    Product p({kRows, kColumns});
    p.add_sum({p.outer[0], p.k}, {p.k, p.outer[1]}, DType::F32, reducer);
    EXPECT_FALSE(contraction_form(p.done()).has_value());
  }
  for (DType dtype : {DType::F64, DType::I32}) {
    Product p({kRows, kColumns});
    p.add_sum({p.outer[0], p.k}, {p.k, p.outer[1]}, dtype);
    EXPECT_FALSE(contraction_form(p.done()).has_value()) << name(dtype);
  }
  Product scan({kRows, kColumns});
  scan.add_sum({scan.outer[0], scan.k}, {scan.k, scan.outer[1]});
  scan.b.k.stages.front().reduction->running = true;
  EXPECT_FALSE(contraction_form(scan.done()).has_value());
}

TEST(ContractionForm, IsNoneForSumsOfAnythingButProducts) {
  Product p({kRows, kColumns});
  p.add_sum({p.outer[0], p.k}, {p.k, p.outer[1]});
  auto& op = std::get<OpInst>(p.b.k.stages.front().body.back().what);
  op.op = Op::Add;
  EXPECT_FALSE(contraction_form(p.done()).has_value());
}

TEST(ContractionForm, IsNoneWhereAFactorIsOfAnotherStageOrAStageHasLoops) {
  Product p({kRows, kColumns});
  const std::vector<Expr> x = {p.outer[0]}, y = {p.k, p.outer[1]};
  auto norm = p.b.stage(DType::F32);
  norm.load(p.b.k, p.tensor(x), x);
  const ParamId w = p.tensor(y);
  auto sum = p.b.stage(DType::F32, {}, Reduction{Reducer::Sum, p.b.last_loop()});
  const InstId left = sum.local(DType::F32, StageId{0});
  sum.op(Op::Mul, DType::F32, {left, sum.load(p.b.k, w, y)});
  EXPECT_FALSE(contraction_form(p.done()).has_value());

  Product q({kRows, kColumns});
  q.add_sum({q.outer[0], q.k}, {q.k, q.outer[1]});
  q.b.inner(3);
  q.b.k.stages.front().loops = {q.b.last_loop()};
  EXPECT_FALSE(contraction_form(q.done()).has_value());
}

TEST(ContractionForm, IsNoneWithoutASum) {
  Product p({kRows, kColumns});
  auto stage = p.b.stage(DType::F32);
  stage.load(p.b.k, p.tensor(p.outer), p.outer);
  EXPECT_FALSE(contraction_form(p.done()).has_value());
}

TEST(ContractionWork, ProductsOfBf16AreExactOnes) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    Product p({kBatch, kRows, kColumns});
    p.add_sum({p.outer[0], p.outer[1], p.k}, {p.outer[0], p.k, p.outer[2]}, dtype);
    const Kernel kernel = p.done();
    const ContractionWork work = work_of(kernel, *contraction_form(kernel));
    const int64_t all = kBatch * kRows * kColumns * kDepth;
    const bool exact = dtype == DType::BF16;
    EXPECT_EQ(work.exact_products.to_int(), exact ? all : 0) << name(dtype);
    EXPECT_EQ(work.products.to_int(), exact ? 0 : all) << name(dtype);
  }
}

}  // namespace
}  // namespace luminal::kernel
