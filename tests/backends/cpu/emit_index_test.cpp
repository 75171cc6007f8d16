// Loads through views, gathers and merged loops; sizes that change from call to call.
#include <gtest/gtest.h>

#include <algorithm>

#include "luminal/backends/cpu/schedule/lane_pattern.h"
#include "tests/backends/cpu/kernel_builder.h"
#include "tests/backends/cpu/kernel_harness.h"

namespace luminal::backends::cpu {
namespace {

using kernel::InstId;

const DType kDTypes[] = {DType::F32, DType::BF16, DType::F64, DType::I8, DType::Bool, DType::I64};

// out[i, j] = x[map(i, j)] over dims [rows, n]; the source's dims and the map are given.
kernel::Kernel copy_through(DType dtype, Expr rows, Expr n, const Dims& source,
                            std::vector<Expr> (*map)(Expr i, Expr j, Expr rows, Expr n)) {
  KernelBuilder b;
  ParamId x = b.param(dtype, source), y = b.param(dtype, {rows, n}, true);
  Expr i = b.outer(rows), j = b.outer(n);
  auto s = b.stage(dtype);
  s.load(b.k, x, map(i, j, rows, n));
  b.output(y, {i, j});
  return b.done();
}

using Map = std::vector<Expr> (*)(Expr, Expr, Expr, Expr);

void check_map(Map map, Dims (*source)(Expr rows, Expr n)) {
  for (DType dtype : kDTypes) {
    for (auto [r, c] : {std::pair{1, 1}, {3, 16}, {5, 17}, {2, 128}, {7, 64}, {2, 331}}) {
      Expr rows = r, n = c;
      expect_like_reference(copy_through(dtype, rows, n, source(rows, n), map), {});
      Expr s = Expr::var("s"), t = Expr::var("t", 1);
      expect_like_reference(copy_through(dtype, s, t, source(s, t), map), {r, c});
      if (::testing::Test::HasFailure()) return;
    }
  }
}

Dims same(Expr rows, Expr n) { return {rows, n}; }

TEST(EmitIndex, Identity) {
  check_map([](Expr i, Expr j, Expr, Expr) { return std::vector<Expr>{i, j}; }, same);
}
TEST(EmitIndex, BroadcastAlongRows) {
  check_map([](Expr, Expr j, Expr, Expr) { return std::vector<Expr>{j}; },
            [](Expr, Expr n) { return Dims{n}; });
}
TEST(EmitIndex, BroadcastAlongColumns) {
  check_map([](Expr i, Expr, Expr, Expr) { return std::vector<Expr>{i}; },
            [](Expr rows, Expr) { return Dims{rows}; });
}
TEST(EmitIndex, Scalar) {
  check_map([](Expr, Expr, Expr, Expr) { return std::vector<Expr>{}; },
            [](Expr, Expr) { return Dims{}; });
}
TEST(EmitIndex, Transposed) {
  check_map([](Expr i, Expr j, Expr, Expr) { return std::vector<Expr>{j, i}; },
            [](Expr rows, Expr n) { return Dims{n, rows}; });
}
TEST(EmitIndex, Reversed) {
  check_map([](Expr i, Expr j, Expr, Expr n) { return std::vector<Expr>{i, n - Expr(1) - j}; },
            same);
}
TEST(EmitIndex, ReversedRows) {
  check_map(
      [](Expr i, Expr j, Expr rows, Expr) { return std::vector<Expr>{rows - Expr(1) - i, j}; },
      same);
}
TEST(EmitIndex, EveryThird) {
  check_map([](Expr i, Expr j, Expr, Expr) { return std::vector<Expr>{i, j * Expr(3) + Expr(1)}; },
            [](Expr rows, Expr n) { return Dims{rows, n * Expr(3)}; });
}
TEST(EmitIndex, RolledByHalf) {
  check_map(
      [](Expr i, Expr j, Expr, Expr n) { return std::vector<Expr>{i, (j + n / Expr(2)) % n}; },
      same);
}
TEST(EmitIndex, RolledByOne) {
  check_map([](Expr i, Expr j, Expr, Expr n) { return std::vector<Expr>{i, (j + Expr(1)) % n}; },
            same);
}
TEST(EmitIndex, RolledBackwards) {
  check_map([](Expr i, Expr j, Expr, Expr n) { return std::vector<Expr>{i, (j - Expr(5)) % n}; },
            same);
}
TEST(EmitIndex, DividedAndLeft) {
  check_map(
      [](Expr i, Expr j, Expr, Expr) { return std::vector<Expr>{j % Expr(7), j / Expr(7), i}; },
      [](Expr rows, Expr n) { return Dims{7, n / Expr(7) + Expr(1), rows}; });
}
TEST(EmitIndex, DividedBySixteen) {
  check_map(
      [](Expr i, Expr j, Expr, Expr) { return std::vector<Expr>{j / Expr(16), i, j % Expr(16)}; },
      [](Expr rows, Expr n) { return Dims{n / Expr(16) + Expr(1), rows, 16}; });
}
TEST(EmitIndex, MinAndMax) {
  check_map([](Expr i, Expr j, Expr,
               Expr n) { return std::vector<Expr>{i, min(max(j - Expr(3), 0), n - Expr(1))}; },
            same);
}
TEST(EmitIndex, ReshapedRowMajor) {
  check_map([](Expr i, Expr j, Expr, Expr n) { return std::vector<Expr>{i * n + j}; },
            [](Expr rows, Expr n) { return Dims{rows * n}; });
}

TEST(EmitIndex, StoresThroughMaps) {
  for (DType dtype : kDTypes) {
    for (int c : {1, 15, 16, 17, 67}) {
      for (int kind = 0; kind < 3; ++kind) {
        KernelBuilder b;
        Expr n = c;
        ParamId x = b.param(dtype, {4, n}),
                y = b.param(dtype, {kind == 2 ? n * Expr(4) : n, 4}, true);
        Expr i = b.outer(4), j = b.outer(n);
        auto s = b.stage(dtype);
        s.load(b.k, x, {i, j});
        if (kind == 0) b.output(y, {j, i});
        if (kind == 1) b.output(y, {n - Expr(1) - j, Expr(3) - i});
        if (kind == 2) b.output(y, {i * n + (n - Expr(1) - j), 2});
        expect_like_reference(b.done(), {});
      }
    }
  }
}

TEST(EmitIndex, InnerLoopInsteadOfOuter) {
  for (DType dtype : kDTypes) {
    KernelBuilder b;
    Expr n = Expr::var("n"), m = Expr::var("m");
    ParamId x = b.param(dtype, {n, m}), y = b.param(dtype, {n, m}, true);
    Expr i = b.outer(n), j = b.inner(m);
    auto s = b.stage(dtype, {LoopId{1}});
    s.load(b.k, x, {i, m - Expr(1) - j});
    b.output(y, {i, j});
    kernel::Kernel kernel = b.done();
    for (int64_t size : {0, 1, 3, 15, 16, 17, 64, 200}) {
      expect_like_reference(kernel, {size, 3});
      expect_like_reference(kernel, {3, size});
    }
  }
}

TEST(EmitIndex, GathersClampTheirIndices) {
  for (DType index : {DType::I64, DType::I32}) {
    for (DType dtype : kDTypes) {
      KernelBuilder b;
      Expr n = Expr::var("n"), m = Expr::var("m"), v = Expr::var("v");
      ParamId data = b.param(dtype, {v, m}), at = b.param(index, {n}),
              y = b.param(dtype, {n, m}, true);
      Expr i = b.outer(n), j = b.outer(m);
      auto s = b.stage(dtype);
      InstId row = s.load(b.k, at, {i});
      s.gather(b.k, data, {{.expr = 0, .value = row}, {.expr = j, .value = {}}});
      b.output(y, {i, j});
      kernel::Kernel kernel = b.done();
      for (int64_t v_size : {0, 1, 5, 40})
        expect_like_reference(kernel, {33, 6, v_size});  // m, n, v
    }
  }
}

TEST(EmitIndex, GathersOfSingleElements) {
  for (DType dtype : {DType::F32, DType::BF16, DType::I8, DType::F64, DType::U4}) {
    KernelBuilder b;
    Expr n = Expr::var("n"), v = Expr::var("v", 1);
    const DType to = dtype == DType::U4 ? DType::I32 : dtype;
    ParamId data = b.param(dtype, {v}), at = b.param(DType::I32, {n}), y = b.param(to, {n}, true);
    Expr i = b.outer(n);
    auto s = b.stage(to);
    InstId loaded = s.gather(b.k, data, {{.expr = 0, .value = s.load(b.k, at, {i})}});
    if (to != dtype) s.op(Op::Cast, to, {loaded});
    b.output(y, {i});
    kernel::Kernel kernel = b.done();
    for (int64_t size : {1, 16, 17, 300}) expect_like_reference(kernel, {size, 12});
  }
}

// Zeros around x, by a select over an index that wraps, also where x has no elements at all.
TEST(EmitIndex, PaddingReadsNothingOutside) {
  for (DType dtype : kDTypes) {
    KernelBuilder b;
    Expr s = Expr::var("s");
    const Expr before = 3, size = s + Expr(8);
    ParamId x = b.param(dtype, {2, s}), y = b.param(dtype, {2, size}, true);
    Expr i = b.outer(2), j = b.outer(size);
    auto stage = b.stage(dtype);
    IndexMap map = IndexMap::pad({2, s}, 1, before, size);
    std::vector<Expr> at = {i, j};
    std::vector<Expr> source;
    for (Expr e : map.exprs()) source.push_back(e.substitute_indices(at));
    Expr valid = IndexMap::pad_valid({2, s}, 1, before, size).substitute_indices(at);
    InstId v = stage.load(b.k, x, source);
    stage.op(Op::Select, dtype, {stage.iota(DType::Bool, valid), v, stage.constant(dtype, 1)});
    b.output(y, {i, j});
    kernel::Kernel kernel = b.done();
    for (int64_t n : {0, 1, 5, 16, 40}) expect_like_reference(kernel, {n});
  }
}

// The same along a strided dim, where lanes stand far apart.
TEST(EmitIndex, PaddingAStridedDimReadsNothingOutside) {
  for (DType dtype : kDTypes) {
    KernelBuilder b;
    Expr s = Expr::var("s");
    const Expr size = s + Expr(40);
    const Dims dims = {s, 1000};
    ParamId x = b.param(dtype, dims), y = b.param(dtype, {3, size}, true);
    Expr i = b.outer(3), j = b.outer(size);
    auto stage = b.stage(dtype);
    std::vector<Expr> at = {j, i * Expr(7)};
    std::vector<Expr> source;
    IndexMap map = IndexMap::pad(dims, 0, 2, size);
    source.push_back(map.exprs()[0].substitute_indices(at));
    source.push_back(i * Expr(7));
    Expr valid = IndexMap::pad_valid(dims, 0, 2, size).substitute_indices(at);
    InstId v = stage.load(b.k, x, source);
    stage.op(Op::Select, dtype, {stage.iota(DType::Bool, valid), v, stage.constant(dtype, 1)});
    b.output(y, {i, j});
    kernel::Kernel kernel = b.done();
    for (int64_t n : {0, 1, 5, 40}) expect_like_reference(kernel, {n});
  }
}

TEST(LanePattern, WrapsThatNoChunkCrossesAreContiguous) {
  Expr j = Expr::index(0, 128);
  LanePattern pattern = lane_pattern((j + Expr(64)) % Expr(128), LoopId{0}, 16);
  EXPECT_EQ(pattern.kind, LaneKind::Affine);
  EXPECT_TRUE(pattern.stride.is(1));
  EXPECT_EQ(lane_pattern((j + Expr(60)) % Expr(128), LoopId{0}, 16).kind, LaneKind::General);
  EXPECT_EQ(lane_pattern(j / Expr(32), LoopId{0}, 16).kind, LaneKind::Uniform);
  EXPECT_EQ(lane_pattern(j / Expr(24), LoopId{0}, 16).kind, LaneKind::General);
  Expr s = Expr::var("s");
  EXPECT_TRUE(lane_pattern(j * s + Expr(5), LoopId{0}, 16).stride == s);
}

}  // namespace
}  // namespace luminal::backends::cpu
