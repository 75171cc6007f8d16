// Products with weights that a file has in blocks of small integers: which of them stream the
// integers, and how much of the weights is held.
#include <gtest/gtest.h>

#include "luminal/backends/cpu/schedule/schedule.h"
#include "luminal/backends/registry/registry.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/graph/traverse.h"
#include "luminal/luminal.h"

namespace luminal::backends::cpu {
namespace {

constexpr int64_t kColumns = 96, kDepth = 512;

struct Weights {
  Graph& graph;

  Tensor integers(DType dtype, int64_t depth = kDepth) const {
    return graph.weight("q", {kColumns, depth}, dtype).cast(DType::F32);
  }
  // One for each `size` along k.
  Tensor each(const char* name, int64_t size, DType dtype, int64_t depth = kDepth) const {
    const Tensor x = graph.weight(name, {kColumns, depth / size}, dtype).cast(DType::F32);
    return x.unsqueeze(-1).expand({kColumns, depth / size, size}).reshape({kColumns, depth});
  }
};
using Made = std::function<Tensor(const Weights&)>;

// The plan of rows by such weights, and the tiling of its one kernel that runs each time.
struct Compiled {
  Graph graph;
  CompileReport report;
  std::shared_ptr<const kernel::PlannedGraph> planned;
  Schedule schedule;

  Compiled(Expr rows, const Made& made, int64_t depth = kDepth) {
    const Tensor x = graph.input("x", {rows, depth});
    matmul(x, made({graph}).t()).output("y");
    planned = plan_graph(graph, roots(graph), {}, report, find_backend("cpu").packing({}));
    const auto& step = std::get<kernel::KernelStep>(planned->plan.steps.back());
    schedule = make_schedule(step.lowered.kernel, Target::named(""), {});
  }

  const TiledQuantised* quantised() const {
    if (!schedule.tiling || !schedule.tiling->contractions[0].quantised) return nullptr;
    return &*schedule.tiling->contractions[0].quantised;
  }
};

Tensor q8(const Weights& w) { return w.integers(DType::I8) * w.each("d", 32, DType::F16); }
Tensor q4(const Weights& w) { return (w.integers(DType::U4) - 8) * w.each("d", 32, DType::F16); }
Tensor q4_with_offsets(const Weights& w) {
  return w.integers(DType::U4) * w.each("d", 32, DType::F16) + w.each("m", 32, DType::F16);
}
Tensor q4_in_super_blocks(const Weights& w) {
  return w.each("d", 256, DType::F16) * w.each("scale", 32, DType::U8) * w.integers(DType::U4) -
         w.each("dmin", 256, DType::F16) * w.each("m", 32, DType::U8);
}
Tensor q6_in_super_blocks(const Weights& w) {
  return w.each("d", 256, DType::F16) * w.each("scale", 16, DType::I8) * w.integers(DType::I8);
}
Tensor q8_per_column(const Weights& w) {
  return w.integers(DType::I8) * w.each("d", kDepth, DType::F32);
}

TEST(Quantised, EachFormIsStreamedForFewRows) {
  struct Form {
    Made made;
    int64_t block;
    bool offset;
  };
  for (const Form& form : {Form{q8, 32, false}, Form{q4, 32, true}, Form{q4_with_offsets, 32, true},
                           Form{q4_in_super_blocks, 32, true}, Form{q6_in_super_blocks, 16, false},
                           Form{q8_per_column, 256, false}}) {
    for (int64_t rows : {1, 2, 8}) {
      const Compiled compiled(rows, form.made);
      ASSERT_NE(compiled.quantised(), nullptr) << compiled.report.text();
      EXPECT_EQ(compiled.quantised()->block, form.block);
      EXPECT_EQ(compiled.quantised()->integers.size(), 1u);
      EXPECT_EQ(compiled.quantised()->offset.valid(), form.offset);
    }
  }
}

// Made once in f32 they would be read many times faster by many rows, and take eight times the
// memory: they are made block by block instead.
TEST(Quantised, WeightsAreNotMadeForManyRowsEither) {
  for (const Made& made : {Made(q8), Made(q4_in_super_blocks)}) {
    const Compiled compiled(128, made);
    ASSERT_TRUE(compiled.schedule.tiling);
    EXPECT_FALSE(compiled.schedule.tiling->contractions[0].right.in_place);
    for (const auto& step : compiled.planned->plan.steps) {
      const kernel::Kernel& k = std::get<kernel::KernelStep>(step).lowered.kernel;
      for (const kernel::Param& param : k.params) {
        const bool whole = param.output && n_elements(param.dims).is(kColumns * kDepth);
        EXPECT_FALSE(whole && param.dtype == DType::F32);
      }
    }
  }
}

// Where there are tiles, and scales that are the same for as many integers as one holds.
TEST(Quantised, ManyRowsMultiplyIntegersOnTiles) {
  const bool tiles = Target::named("").amx_bf16;
  for (const Made& made :
       {Made(q8), Made(q4), Made(q4_with_offsets), Made(q4_in_super_blocks), Made(q8_per_column)}) {
    for (const Expr& rows : {Expr(9), Expr(128), Expr::var("s", 0, 200)}) {
      const Compiled compiled(rows, made);
      EXPECT_EQ(compiled.schedule.tiling->integers_on_tiles, tiles);
      EXPECT_EQ(compiled.quantised() != nullptr, tiles);
    }
  }
  EXPECT_FALSE(Compiled(128, q6_in_super_blocks).schedule.tiling->integers_on_tiles);
  EXPECT_EQ(Compiled(128, q6_in_super_blocks).quantised(), nullptr);
  EXPECT_FALSE(Compiled(8, q8).schedule.tiling->integers_on_tiles);
}

// Rows of bf16 by such weights in bf16.
TEST(Quantised, RoundedWeightsAreStreamedOrMade) {
  const auto compiled = [](int64_t rows) {
    Graph graph;
    const Tensor x = graph.input("x", {rows, kDepth}, DType::BF16);
    matmul(x, q4({graph}).cast(DType::BF16).t()).output("y");
    CompileReport report;
    const auto planned =
        plan_graph(graph, roots(graph), {}, report, find_backend("cpu").packing({}));
    const auto& step = std::get<kernel::KernelStep>(planned->plan.steps.back());
    return make_schedule(step.lowered.kernel, Target::named(""), {}).tiling.value();
  };
  EXPECT_TRUE(compiled(1).contractions[0].quantised);
  EXPECT_EQ(compiled(1).multiply, Multiply::F32);
  EXPECT_FALSE(compiled(128).contractions[0].quantised);
  EXPECT_TRUE(compiled(128).contractions[0].made_of);
  EXPECT_EQ(compiled(128).multiply, best_multiply(Target::named(""), DType::BF16, 128));
}

// The model of costs once took them for weights that are stored in 16 bits and widened in every
// run, and had all products stored instead.
TEST(Quantised, RoundedWeightsAreStreamedByRowsOfF32Too) {
  const Compiled compiled(
      1, [](const Weights& w) { return q4(w).cast(DType::BF16).cast(DType::F32); });
  ASSERT_NE(compiled.quantised(), nullptr) << compiled.report.text();
}

TEST(Quantised, OnePackedFormServesFewRowsAndMany) {
  const Compiled one(1, q4), many(128, q4);
  ASSERT_EQ(one.planned->plan.steps.size(), many.planned->plan.steps.size());
  for (size_t k = 0; k + 1 < one.planned->plan.steps.size(); ++k) {
    const auto text_of = [&](const Compiled& from) {
      return text(std::get<kernel::KernelStep>(from.planned->plan.steps[k]).lowered.kernel);
    };
    EXPECT_EQ(text_of(one), text_of(many));
  }
}

TEST(Quantised, WhatIsNotLinearInTheIntegersIsMade) {
  // A scale for each element is no scale.
  EXPECT_EQ(
      Compiled(1,
               [](const Weights& w) { return w.integers(DType::I8) * w.each("d", 1, DType::F32); })
          .quantised(),
      nullptr);
  EXPECT_EQ(Compiled(1, [](const Weights& w) { return sqrt(q8(w)); }).quantised(), nullptr);
  EXPECT_EQ(Compiled(1,
                     [](const Weights& w) {
                       const Tensor x = q8(w);
                       return x * x;
                     })
                .quantised(),
            nullptr);
}

}  // namespace
}  // namespace luminal::backends::cpu
