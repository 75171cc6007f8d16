// Kernels of several stages: reductions, local buffers, softmax and norms, sizes known and unknown.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/backends/cpu/kernel_builder.h"
#include "tests/backends/cpu/kernel_harness.h"
#include "tests/backends/cpu/kernel_recipes.h"

namespace luminal::backends::cpu {
namespace {

using kernel::InstId;
using kernel::Reduction;

const int64_t kSizes[] = {0, 1, 3, 15, 16, 17, 255, 4097};
const DType kComputed[] = {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64,
                           DType::I32, DType::I16, DType::I8,  DType::U8,   DType::Bool};

// Sums of n values of size ~4: an absolute error that grows like the reference's own rounding.
Tolerance sum_tolerance(DType dtype, int64_t n) {
  const double unit = dtype == DType::F64 ? 1e-15 : 1e-6;
  return {.ulps = 1, .absolute = is_float(dtype) ? unit * 4 * static_cast<double>(n) : 0};
}

kernel::Kernel reduce_rows(Reducer reducer, DType dtype, Expr rows, Expr n) {
  KernelBuilder b;
  ParamId x = b.param(dtype, {rows, n}), y = b.param(dtype, {rows}, true);
  Expr i = b.outer(rows), r = b.inner(n);
  auto s = b.stage(dtype, {}, Reduction{reducer, b.last_loop()});
  s.load(b.k, x, {i, r});
  b.output(y, {i});
  return b.done();
}

TEST(EmitKernel, ReductionsInAllDTypes) {
  Expr n = Expr::var("n"), m = Expr::var("m");
  for (DType dtype : kComputed) {
    for (Reducer reducer : {Reducer::Sum, Reducer::Max}) {
      kernel::Kernel kernel = reduce_rows(reducer, dtype, m, n);
      for (int64_t size : kSizes) {
        const bool exact = reducer == Reducer::Max || !is_float(dtype);
        expect_like_reference(kernel, {3, size}, exact ? Tolerance{} : sum_tolerance(dtype, size),
                              exact ? Fill::Special : Fill::Usual);
        if (HasFailure()) return;
      }
    }
    kernel::Kernel product = reduce_rows(Reducer::Prod, dtype, m, n);
    for (int64_t size : {0, 1, 3, 17, 40}) {
      const double ulps = is_float(dtype) ? 200 : 0;
      expect_like_reference(product, {3, size}, {.ulps = ulps},
                            is_float(dtype) ? Fill::Usual : Fill::Special);
    }
  }
}

// LLVM has instructions for sums of products of bytes, and of differences of bytes, where their
// number is known: all lanes must be in the sum.
TEST(EmitKernel, SumsOfBytesOfAKnownNumber) {
  const auto product = [](StageBuilder& s, InstId a, InstId b) {
    s.op(Op::Mul, DType::I32, {a, b});
  };
  const auto distance = [](StageBuilder& s, InstId a, InstId b) {
    const InstId minus = s.constant(DType::I32, -1);
    const InstId up = s.op(Op::Add, DType::I32, {b, s.op(Op::Mul, DType::I32, {a, minus})});
    const InstId down = s.op(Op::Add, DType::I32, {a, s.op(Op::Mul, DType::I32, {b, minus})});
    s.op(Op::Select, DType::I32, {s.op(Op::LessThan, DType::Bool, {a, b}), up, down});
  };
  const auto expect_sum = [](DType left, DType right, int64_t n, auto&& combine) {
    KernelBuilder b;
    const ParamId x = b.param(left, {4, n}), y = b.param(right, {n, 3}),
                  z = b.param(DType::I32, {4, 3}, true);
    const Expr i = b.outer(4), j = b.outer(3), r = b.inner(n);
    auto s = b.stage(DType::I32, {}, Reduction{Reducer::Sum, b.last_loop()});
    const InstId first = s.op(Op::Cast, DType::I32, {s.load(b.k, x, {i, r})});
    combine(s, first, s.op(Op::Cast, DType::I32, {s.load(b.k, y, {r, j})}));
    b.output(z, {i, j});
    expect_like_reference(b.done(), {}, {}, Fill::Special);
  };
  for (DType left : {DType::U8, DType::I8}) {
    for (DType right : {DType::U8, DType::I8}) {
      for (int64_t n : {4, 8, 16, 17, 32, 64}) {
        SCOPED_TRACE(std::string(name(left)) + " " + std::string(name(right)) + " " +
                     std::to_string(n));
        expect_sum(left, right, n, product);
        expect_sum(left, right, n, distance);
      }
    }
  }
}

TEST(EmitKernel, MaxPrefersNaNAndPlusZero) {
  kernel::Kernel kernel = reduce_rows(Reducer::Max, DType::F32, 40, Expr::var("n"));
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (int64_t n : {1, 2, 3, 4}) {
      expect_like_reference(kernel, {n}, {}, Fill::Special, seed);
    }
  }
}

TEST(EmitKernel, ReductionAlongAStridedDim) {
  for (DType dtype : kComputed) {
    KernelBuilder b;
    Expr n = Expr::var("n"), m = Expr::var("m");
    ParamId x = b.param(dtype, {m, n}), y = b.param(dtype, {n}, true);
    Expr i = b.outer(n), r = b.inner(m);
    auto s = b.stage(dtype, {}, Reduction{Reducer::Sum, b.last_loop()});
    s.load(b.k, x, {r, i});
    b.output(y, {i});
    kernel::Kernel kernel = b.done();
    for (int64_t size : {0, 1, 17, 130}) {
      expect_like_reference(kernel, {9, size}, sum_tolerance(dtype, 9));
      expect_like_reference(kernel, {size, 33}, sum_tolerance(dtype, size));
    }
  }
}

TEST(EmitKernel, WholeSum) {
  KernelBuilder b;
  Expr n = Expr::var("n");
  ParamId x = b.param(DType::F32, {n}), y = b.param(DType::F32, {}, true);
  Expr r = b.inner(n);
  auto s = b.stage(DType::F32, {}, Reduction{Reducer::Sum, LoopId{0}});
  s.load(b.k, x, {r});
  b.output(y, {});
  kernel::Kernel kernel = b.done();
  for (int64_t size : kSizes)
    expect_like_reference(kernel, {size}, sum_tolerance(DType::F32, size));
}

// C = A · B and A · Bᵀ with an epilogue.
TEST(EmitKernel, Contractions) {
  for (DType dtype : {DType::F32, DType::BF16, DType::I32}) {
    for (bool transposed : {false, true}) {
      KernelBuilder b;
      Expr m = Expr::var("m"), n = Expr::var("n"), k = Expr::var("k");
      ParamId a = b.param(dtype, {m, k}), w = b.param(dtype, transposed ? Dims{n, k} : Dims{k, n});
      ParamId c = b.param(dtype, {m, n}, true);
      Expr i = b.outer(m), j = b.outer(n), r = b.inner(k);
      const DType wide = dtype == DType::BF16 ? DType::F32 : dtype;
      {
        auto s = b.stage(wide, {}, Reduction{Reducer::Sum, b.last_loop()});
        InstId p = s.load(b.k, a, {i, r});
        InstId q = s.load(b.k, w, transposed ? std::vector{j, r} : std::vector{r, j});
        if (wide != dtype) {
          p = s.op(Op::Cast, wide, {p});
          q = s.op(Op::Cast, wide, {q});
        }
        s.op(Op::Mul, wide, {p, q});
      }
      {
        auto s = b.stage(dtype);
        InstId v = s.op(Op::Add, wide, {s.local(wide, StageId{0}), s.constant(wide, 2)});
        if (wide != dtype) s.op(Op::Cast, dtype, {v});
        b.output(c, {i, j});
      }
      kernel::Kernel kernel = b.done();
      for (int64_t size : {0, 1, 5, 17, 70}) {
        Tolerance near{.ulps = 1, .absolute = is_float(dtype) ? 2e-3 : 0};
        expect_like_reference(kernel, {size, 7, 35}, near);  // k, m, n
        expect_like_reference(kernel, {19, 3, size}, near);
      }
    }
  }
}

// out[d] = Σ_k p[k] · v[k, d] at each outer point: the reduction runs inside the lanes of d.
TEST(EmitKernel, ReductionInsideAnInnerLoop) {
  for (DType dtype : {DType::F32, DType::F64, DType::I8}) {
    KernelBuilder b;
    Expr h = 3, k = Expr::var("k"), d = Expr::var("d");
    ParamId p = b.param(dtype, {h, k}), v = b.param(dtype, {h, k, d}),
            y = b.param(dtype, {h, d}, true);
    Expr i = b.outer(h), e = b.inner(d), r = b.inner(k);
    auto s = b.stage(dtype, {LoopId{1}}, Reduction{Reducer::Sum, LoopId{2}});
    s.op(Op::Mul, dtype, {s.load(b.k, p, {i, r}), s.load(b.k, v, {i, r, e})});
    b.output(y, {i, e});
    kernel::Kernel kernel = b.done();
    Tolerance near{.ulps = 1, .absolute = is_float(dtype) ? 1e-3 : 0};
    for (int64_t size : {0, 1, 16, 17, 66}) {
      expect_like_reference(kernel, {size, 9}, near);
      expect_like_reference(kernel, {40, size}, near);
    }
  }
}

// A local buffer of two inner loops, read transposed, in kernels across rows and across columns.
TEST(EmitKernel, LocalBuffersOfTwoDims) {
  for (DType dtype : {DType::F32, DType::BF16, DType::Bool, DType::F64}) {
    KernelBuilder b;
    Expr a = Expr::var("a"), c = Expr::var("c");
    ParamId x = b.param(dtype, {5, a, c}), y = b.param(dtype, {5, c, a}, true);
    Expr i = b.outer(5), p = b.inner(a), q = b.inner(c);
    {
      auto s = b.stage(dtype, {LoopId{1}, LoopId{2}});
      InstId v = s.load(b.k, x, {i, p, q});
      s.op(Op::Add, dtype, {v, v});
    }
    {
      auto s = b.stage(dtype, {LoopId{2}, LoopId{1}});
      s.local(dtype, StageId{0}, {p, q});
      b.output(y, {i, q, p});
    }
    kernel::Kernel kernel = b.done();
    for (int64_t size : {0, 1, 4, 17}) {
      expect_like_reference(kernel, {size, 20});
      expect_like_reference(kernel, {33, size});
    }
  }
}

// Column softmax: the outer loop runs across lanes and its local buffer holds a vector per element.
TEST(EmitKernel, LocalBuffersAcrossTheOuterLoop) {
  KernelBuilder b;
  Expr n = Expr::var("n"), m = Expr::var("m");
  ParamId x = b.param(DType::F32, {m, n}), y = b.param(DType::F32, {m, n}, true);
  Expr i = b.outer(n), j = b.inner(m), r = b.inner(m);
  {
    auto s = b.stage(DType::F32, {LoopId{1}});
    s.op(Op::Exp2, DType::F32, {s.load(b.k, x, {j, i})});
  }
  {
    auto s = b.stage(DType::F32, {}, Reduction{Reducer::Sum, LoopId{2}});
    s.local(DType::F32, StageId{0}, {r});
  }
  {
    auto s = b.stage(DType::F32, {LoopId{1}});
    InstId e = s.local(DType::F32, StageId{0}, {j});
    s.op(Op::Mul, DType::F32, {e, s.op(Op::Recip, DType::F32, {s.local(DType::F32, StageId{1})})});
    b.output(y, {j, i});
  }
  kernel::Kernel kernel = b.done();
  for (int64_t size : {0, 1, 17, 130}) {
    expect_like_reference(kernel, {7, size}, {.ulps = 8});
    expect_like_reference(kernel, {size, 19}, {.ulps = 8});
  }
}

// Sums taken in another order, and polynomials, come out a few units in the last place away.
Tolerance recipe_tolerance(DType dtype) {
  return dtype == DType::F32 ? Tolerance{.ulps = 16, .absolute = 2e-5}
                             : Tolerance{.ulps = 1, .absolute = 2e-4};
}

TEST(EmitKernel, RecipesAtKnownSizes) {
  for (const auto& [name, make] : recipes()) {
    SCOPED_TRACE(name);
    for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
      for (int64_t n : {128, 256, 384}) {
        expect_like_reference(make(dtype, 3, n), {}, recipe_tolerance(dtype));
        if (HasFailure()) return;
      }
      if (name == "rotary") continue;
      for (int64_t n : {1, 3, 16, 17, 100}) {
        expect_like_reference(make(dtype, 5, n), {}, recipe_tolerance(dtype));
        if (HasFailure()) return;
      }
    }
  }
}

TEST(EmitKernel, RecipesAtSizesThatChange) {
  for (const auto& [name, make] : recipes()) {
    SCOPED_TRACE(name);
    for (DType dtype : {DType::F32, DType::BF16}) {
      const bool by_heads = name == "rotary";
      Expr n = Expr::var("n", 1), rows = Expr::var("r");
      kernel::Kernel kernel = make(dtype, rows, by_heads ? n * Expr(128) : n);
      for (int64_t size : {1, 3, 16, 17, by_heads ? 5 : 4097}) {
        for (int64_t r : {0, 1, 3}) {
          expect_like_reference(kernel, {size, r}, recipe_tolerance(dtype));
          if (HasFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace luminal::backends::cpu
