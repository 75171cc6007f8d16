#include "luminal/kernel/ir/in_place.h"

#include <gtest/gtest.h>

#include "tests/backends/cpu/kernel_builder.h"

namespace luminal::kernel {
namespace {

using backends::cpu::KernelBuilder;

// out[i] = in[index(i)] over all of [8, 4], every loop outer.
Kernel pointwise(DType in, std::vector<Expr> (*index)(Expr, Expr)) {
  KernelBuilder b;
  b.param(in, {8, 4});
  b.param(DType::F32, {8, 4}, true);
  Expr i = b.outer(8), j = b.outer(4);
  auto stage = b.stage(DType::F32);
  InstId value = stage.load(b.k, ParamId{0}, index(i, j));
  stage.op(Op::Cast, DType::F32, {value});
  b.output(ParamId{1}, {i, j});
  return b.done();
}

std::vector<Expr> same(Expr i, Expr j) { return {i, j}; }
std::vector<Expr> flipped(Expr i, Expr j) { return {7 - i, j}; }
std::vector<Expr> first_row(Expr, Expr j) { return {0, j}; }

TEST(InPlace, WhatIsReadWhereItIsWrittenMayShare) {
  EXPECT_TRUE(may_share(pointwise(DType::F32, same), ParamId{0}, ParamId{1}));
  EXPECT_TRUE(may_share(pointwise(DType::I32, same), ParamId{0}, ParamId{1}))
      << "only the width counts";
}

TEST(InPlace, OtherPlacesOrWidthsMayNot) {
  EXPECT_FALSE(may_share(pointwise(DType::F32, flipped), ParamId{0}, ParamId{1}));
  EXPECT_FALSE(may_share(pointwise(DType::F32, first_row), ParamId{0}, ParamId{1}));
  EXPECT_FALSE(may_share(pointwise(DType::F16, same), ParamId{0}, ParamId{1}));
  EXPECT_FALSE(may_share(pointwise(DType::F32, same), ParamId{1}, ParamId{1}))
      << "an output is no input";
}

// Rows of [8, 16]: a sum over the row, then out = in · sum. `read_row` is where the sum reads.
Kernel rows(bool own_row, bool second_reads_elsewhere) {
  KernelBuilder b;
  b.param(DType::F32, {8, 16});
  b.param(DType::F32, {8, 16}, true);
  Expr row = b.outer(8);
  Expr k = b.inner(16);
  const LoopId reduced = b.last_loop();
  auto total = b.stage(DType::F32, {}, Reduction{Reducer::Sum, reduced});
  total.load(b.k, ParamId{0}, {own_row ? row : Expr(7) - row, k});
  Expr j = b.inner(16);
  auto scaled = b.stage(DType::F32, {b.last_loop()});
  InstId value = scaled.load(b.k, ParamId{0}, {row, second_reads_elsewhere ? 15 - j : j});
  scaled.op(Op::Mul, DType::F32, {value, scaled.local(DType::F32, StageId{0})});
  b.output(ParamId{1}, {row, j});
  return b.done();
}

TEST(InPlace, ARowKernelMayReadItsOwnRowBeforeItWrites) {
  EXPECT_TRUE(may_share(rows(true, false), ParamId{0}, ParamId{1}));
  EXPECT_FALSE(may_share(rows(false, false), ParamId{0}, ParamId{1}))
      << "another point's row may be overwritten";
  EXPECT_FALSE(may_share(rows(true, true), ParamId{0}, ParamId{1}))
      << "what was written is read again";
}

TEST(InPlace, AGatherMayNot) {
  KernelBuilder b;
  b.param(DType::I32, {8});
  b.param(DType::F32, {8});
  b.param(DType::F32, {8}, true);
  Expr i = b.outer(8);
  auto stage = b.stage(DType::F32);
  InstId at = stage.load(b.k, ParamId{0}, {i});
  stage.gather(b.k, ParamId{1}, {{Expr(0), at}});
  b.output(ParamId{2}, {i});
  const Kernel kernel = b.done();
  EXPECT_FALSE(may_share(kernel, ParamId{1}, ParamId{2}));
  EXPECT_TRUE(may_share(kernel, ParamId{0}, ParamId{2}));
}

}  // namespace
}  // namespace luminal::kernel
