// What a tiling reads in place, how it cuts a product into blocks, and which loops it makes one.
#include "luminal/backends/cpu/schedule/tiling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/backends/cpu/schedule/schedule.h"
#include "tests/backends/cpu/kernel_builder.h"

namespace luminal::backends::cpu {
namespace {

using kernel::Kernel;
using kernel::Reduction;
using testing::ElementsAre;
using testing::IsEmpty;

Target avx512() {
  return {.name = "avx512",
          .triple = {},
          .cpu = {},
          .features = {},
          .vector_bytes = 64,
          .x86 = true,
          .avx512 = true,
          .avx512_bf16 = true};
}

// Where an operand's elements are.
struct Operand {
  Dims dims;
  std::vector<Expr> index;
};

// What tests say of a product: its outer loops and how operands lie over them and k.
struct Problem {
  std::vector<Expr> sizes;  // of the outer loops
  Expr depth;
  DType dtype = DType::F32;
  bool scaled = false;  // the right operand is multiplied by something
  int sums = 1;
};

class Tiled {
 public:
  using Place = std::function<Operand(const std::vector<Expr>& outer, Expr k)>;

  Tiled(const Problem& problem, const Place& left, const Place& right,
        const Target& target = avx512()) {
    KernelBuilder b;
    std::vector<Expr> outer;
    for (Expr size : problem.sizes) outer.push_back(b.outer(size));
    const Expr k = b.inner(problem.depth);
    const LoopId loop = b.last_loop();
    for (int s = 0; s < problem.sums; ++s) {
      const Operand x = left(outer, k), y = right(outer, k);
      const ParamId a = b.param(problem.dtype, x.dims), w = b.param(problem.dtype, y.dims);
      auto stage = b.stage(DType::F32, {}, Reduction{Reducer::Sum, loop});
      auto load = [&](ParamId param, const Operand& from) {
        const kernel::InstId id = stage.load(b.k, param, from.index);
        return problem.dtype == DType::F32 ? id : stage.op(Op::Cast, DType::F32, {id});
      };
      const kernel::InstId first = load(a, x);
      kernel::InstId second = load(w, y);
      if (problem.scaled) {
        second = stage.op(Op::Mul, DType::F32, {second, stage.constant(DType::F32, 0.5)});
      }
      stage.op(Op::Mul, DType::F32, {first, second});
    }
    if (problem.sums == 2) {
      auto both = b.stage(DType::F32);
      const auto first = both.local(DType::F32, StageId{0}),
                 second = both.local(DType::F32, StageId{1});
      both.op(Op::Mul, DType::F32, {first, second});
    }
    b.output(b.param(DType::F32, problem.sizes, true), outer);
    kernel_ = b.done();
    schedule_ = make_schedule(kernel_, target, {});
  }

  const Schedule& schedule() const { return schedule_; }
  const Tiling& tiling() const { return *schedule_.tiling; }
  const TiledFactor& left() const { return tiling().contractions[0].left; }
  const TiledFactor& right() const { return tiling().contractions[0].right; }

 private:
  Kernel kernel_;
  Schedule schedule_;
};

Operand rows_by_k(const std::vector<Expr>& outer, Expr k) {
  return {{outer[0].upper_bound() + 1, k.upper_bound() + 1}, {outer[0], k}};
}
Operand k_by_rows(const std::vector<Expr>& outer, Expr k) {
  return {{k.upper_bound() + 1, outer[0].upper_bound() + 1}, {k, outer[0]}};
}
Operand k_by_columns(const std::vector<Expr>& outer, Expr k) {
  return {{k.upper_bound() + 1, outer.back().upper_bound() + 1}, {k, outer.back()}};
}
Operand columns_by_k(const std::vector<Expr>& outer, Expr k) {
  return {{outer.back().upper_bound() + 1, k.upper_bound() + 1}, {outer.back(), k}};
}
// As weights are packed, `depth` elements along k next to each other.
Tiled::Place panels(int64_t depth) {
  return [depth](const std::vector<Expr>& outer, Expr k) {
    const Expr n = outer.back();
    const int64_t columns = n.upper_bound() + 1, length = k.upper_bound() + 1;
    return Operand{{(columns + 15) / 16, length / depth, 16, depth},
                   {n / 16, k / depth, n % 16, k % depth}};
  };
}

TEST(Tiling, RowsAreReadInPlaceHoweverTheyLie) {
  const Tiled plain({.sizes = {64, 96}, .depth = 32}, rows_by_k, k_by_columns);
  EXPECT_TRUE(plain.left().in_place);
  EXPECT_EQ(plain.left().param, ParamId{0});
  EXPECT_EQ(plain.left().step, Expr(32));
  EXPECT_EQ(plain.left().k_step, Expr(1));
  const Tiled turned({.sizes = {64, 96}, .depth = 32}, k_by_rows, k_by_columns);
  EXPECT_TRUE(turned.left().in_place);
  EXPECT_EQ(turned.left().step, Expr(1));
  EXPECT_EQ(turned.left().k_step, Expr(64));
}

TEST(Tiling, PairsOfBf16LieSideBySideAlongK) {
  const Problem bf16{.sizes = {64, 96}, .depth = 32, .dtype = DType::BF16};
  const Tiled plain(bf16, rows_by_k, panels(2));
  EXPECT_EQ(plain.tiling().multiply, Multiply::Bf16Dot);
  EXPECT_TRUE(plain.left().in_place);
  EXPECT_TRUE(plain.right().in_place);
  const Tiled turned(bf16, k_by_rows, panels(2));
  EXPECT_FALSE(turned.left().in_place);
}

TEST(Tiling, OnlyPanelsAreReadInPlaceOnTheRight) {
  const Problem f32{.sizes = {64, 96}, .depth = 32};
  EXPECT_FALSE(Tiled(f32, rows_by_k, k_by_columns).right().in_place);
  EXPECT_FALSE(Tiled(f32, rows_by_k, columns_by_k).right().in_place);
  const Tiled packed(f32, rows_by_k, panels(1));
  EXPECT_TRUE(packed.right().in_place);
  EXPECT_EQ(packed.right().param, ParamId{1});
  EXPECT_EQ(packed.right().step, Expr(16 * 32));
  // Pairs are no panels of f32.
  EXPECT_FALSE(Tiled(f32, rows_by_k, panels(2)).right().in_place);
}

TEST(Tiling, PanelsOfColumnsThatAreNoMultipleOfThemAreStillPanels) {
  EXPECT_TRUE(Tiled({.sizes = {64, 90}, .depth = 32}, rows_by_k, panels(1)).right().in_place);
}

// Whole vectors are read in place, so all of them must be the tensor's own.
TEST(Tiling, ColumnsThatOnlyLookLikePanelsAreCopied) {
  // The second of three groups of three columns starts inside of a panel.
  auto groups = [](const std::vector<Expr>& outer, Expr k) {
    return Operand{{1, 32, 16, 1}, {0, k, outer[0] * 3 + outer[2], 0}};
  };
  auto left = [](const std::vector<Expr>& outer, Expr k) {
    return Operand{{3, 17, 32}, {outer[0], outer[1], k}};
  };
  EXPECT_FALSE(Tiled({.sizes = {3, 17, 3}, .depth = 32}, left, groups).right().in_place);
  // Windows of three columns, sixteen apart: the last one ends with the tensor.
  auto windows = [](const std::vector<Expr>& outer, Expr k) {
    return Operand{{31 * 16 + 3}, {k * 16 + outer[1]}};
  };
  EXPECT_FALSE(Tiled({.sizes = {64, 3}, .depth = 32}, rows_by_k, windows).right().in_place);
  auto whole = [](const std::vector<Expr>& outer, Expr k) {
    return Operand{{32 * 16}, {k * 16 + outer[1]}};
  };
  EXPECT_TRUE(Tiled({.sizes = {64, 3}, .depth = 32}, rows_by_k, whole).right().in_place);
}

TEST(Tiling, WhatIsComputedIsCopied) {
  const Tiled scaled({.sizes = {64, 96}, .depth = 32, .scaled = true}, rows_by_k, panels(1));
  EXPECT_TRUE(scaled.left().in_place);
  EXPECT_FALSE(scaled.right().in_place);
  // Halves that nothing multiplies as they are get widened on the way.
  Target without = avx512();
  without.avx512_bf16 = false;
  const Tiled widened({.sizes = {64, 96}, .depth = 32, .dtype = DType::BF16}, rows_by_k,
                      k_by_columns, without);
  EXPECT_EQ(widened.tiling().multiply, Multiply::F32);
  EXPECT_FALSE(widened.left().in_place);
  EXPECT_FALSE(widened.right().in_place);
}

TEST(Tiling, FewRowsReadPanelsOfHalvesInPlace) {
  Target without = avx512();
  without.avx512_bf16 = false;
  for (DType half : {DType::BF16, DType::F16}) {
    const Problem few{.sizes = {8, 96}, .depth = 32, .dtype = half};
    const Tiled in_place(few, rows_by_k, panels(1), without);
    EXPECT_EQ(in_place.tiling().multiply, Multiply::F32);
    EXPECT_TRUE(in_place.right().in_place);
    EXPECT_EQ(in_place.right().narrow, half);
    const Tiled pairs(few, rows_by_k, panels(2), without);
    EXPECT_FALSE(pairs.right().in_place);
    EXPECT_EQ(pairs.right().narrow, DType::F32);
    // Many rows read a copy, widened once.
    const Problem many{.sizes = {9, 96}, .depth = 32, .dtype = half};
    EXPECT_FALSE(Tiled(many, rows_by_k, panels(1), without).right().in_place);
  }
}

// x[b, s, k] by w[k, n]: [b, s] in memory order are rows.
TEST(Tiling, RowsOfSeveralLoopsAreMergedWhereTheyFollowEachOther) {
  auto whole = [](const std::vector<Expr>& outer, Expr k) {
    return Operand{{8, 128, 32}, {outer[0], outer[1], k}};
  };
  const Problem problem{.sizes = {8, 128, 96}, .depth = 32};
  const Tiled merged(problem, whole, k_by_columns);
  EXPECT_EQ(merged.tiling().row_loop, LoopId{1});
  EXPECT_EQ(merged.schedule().extents[LoopId{1}], Expr(8 * 128));
  EXPECT_THAT(merged.tiling().others, IsEmpty());
  EXPECT_TRUE(merged.left().in_place);

  auto part = [](const std::vector<Expr>& outer, Expr k) {
    return Operand{{8, 130, 32}, {outer[0], outer[1] + 2, k}};
  };
  const Tiled apart(problem, part, k_by_columns);
  EXPECT_EQ(apart.tiling().row_loop, LoopId{1});
  EXPECT_EQ(apart.schedule().extents[LoopId{1}], Expr(128));
  EXPECT_THAT(apart.tiling().others, ElementsAre(LoopId{0}));
  EXPECT_TRUE(apart.left().in_place);
}

TEST(Tiling, OneRowNeedsNoRowLoop) {
  const Tiled row({.sizes = {1, 4096}, .depth = 64}, rows_by_k, panels(1));
  EXPECT_EQ(row.tiling().row_loop, LoopId());
  EXPECT_EQ(row.tiling().block_rows, 1);
  EXPECT_EQ(row.tiling().row_blocks, Expr(1));
}

TEST(Tiling, BlocksAreWholeTilesAndEnoughForAllThreads) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    for (int64_t m : {1, 3, 17, 64, 65, 512, 2048}) {
      for (int64_t n : {64, 1000, 4096}) {
        const Tiled tiled({.sizes = {m, n}, .depth = 1024, .dtype = dtype}, rows_by_k,
                          panels(dtype == DType::BF16 ? 2 : 1));
        const Tiling& tiling = tiled.tiling();
        SCOPED_TRACE(testing::Message() << name(dtype) << " " << m << " × " << n);
        EXPECT_EQ(tiling.block_rows % tiling.shape.rows, 0);
        EXPECT_EQ(tiling.block_columns % (tiling.shape.panels * tiling.lanes), 0);
        EXPECT_GE(tiling.block_rows * tiling.row_blocks.to_int().value(), m);
        EXPECT_GE(tiling.block_columns * tiling.column_blocks.to_int().value(), n);
        EXPECT_EQ(tiled.schedule().points, tiling.row_blocks * tiling.column_blocks);
        if (m * n >= 512 * 1000) {
          EXPECT_GE(tiled.schedule().points.to_int().value(), 16);
        }
      }
    }
  }
}

TEST(Tiling, BatchesAreBlocksOfTheirOwn) {
  auto left = [](const std::vector<Expr>& outer, Expr k) {
    return Operand{{5, 64, 32}, {outer[0], outer[1], k}};
  };
  auto right = [](const std::vector<Expr>& outer, Expr k) {
    return Operand{{5, 32, 96}, {outer[0], k, outer[2]}};
  };
  const Tiled tiled({.sizes = {5, 64, 96}, .depth = 32}, left, right);
  EXPECT_THAT(tiled.tiling().others, ElementsAre(LoopId{0}));
  const Tiling& tiling = tiled.tiling();
  EXPECT_EQ(tiled.schedule().points, tiling.row_blocks * tiling.column_blocks * Expr(5));
}

TEST(Tiling, TwoSumsHaveRoomEach) {
  const Tiled tiled({.sizes = {64, 96}, .depth = 32, .sums = 2}, rows_by_k, panels(1));
  ASSERT_EQ(tiled.tiling().contractions.size(), 2u);
  const auto& [first, second] =
      std::pair(tiled.tiling().contractions[0], tiled.tiling().contractions[1]);
  const int64_t bytes = tiled.tiling().block_rows * tiled.tiling().block_columns * 4;
  EXPECT_GE(second.sums.to_int().value() - first.sums.to_int().value(), bytes);
  EXPECT_GE(tiled.schedule().scratch_bytes.to_int().value(), second.sums.to_int().value() + bytes);
  EXPECT_EQ(tiled.tiling().epilogue.size(), 1u);
}

TEST(Tiling, UnknownRowsAreCutIntoBlocksOfTheLargestTiles) {
  const Expr s = Expr::var("s", 0, 4096);
  auto left = [&](const std::vector<Expr>& outer, Expr k) {
    return Operand{{s, 32}, {outer[0], k}};
  };
  const Tiled tiled({.sizes = {s, 96}, .depth = 32}, left, k_by_columns);
  EXPECT_EQ(tiled.tiling().shape, micro_shape(avx512(), Multiply::F32, 4096));
  EXPECT_EQ(tiled.tiling().row_blocks.evaluate({{"s", 0}}).value, 0);
  EXPECT_GE(
      tiled.tiling().row_blocks.evaluate({{"s", 4096}}).value.value() * tiled.tiling().block_rows,
      4096);
}

}  // namespace
}  // namespace luminal::backends::cpu
