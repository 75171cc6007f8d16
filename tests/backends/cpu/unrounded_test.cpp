// Which sums take products in, and what that gives.
#include "luminal/backends/cpu/schedule/unrounded.h"

#include <gtest/gtest.h>

#include <cmath>

#include "luminal/backends/cpu/launch/launch.h"
#include "tests/backends/cpu/kernel_builder.h"
#include "tests/backends/cpu/kernel_harness.h"

namespace luminal::backends::cpu {
namespace {

using kernel::InstId;
constexpr DType F = DType::F32;

// y[i] = what `build` makes of a[i], b[i], c[i].
template <typename Build>
kernel::Kernel of_three(Build build, DType dtype = F) {
  KernelBuilder b;
  Expr n = Expr::var("n");
  for (int k = 0; k < 3; ++k) b.param(dtype, {n});
  const ParamId y = b.param(dtype, {n}, true);
  Expr i = b.outer(n);
  StageBuilder s = b.stage(dtype);
  build(s, s.load(b.k, ParamId{0}, {i}), s.load(b.k, ParamId{1}, {i}),
        s.load(b.k, ParamId{2}, {i}));
  b.output(y, {i});
  return b.done();
}

int n_fused(const kernel::Kernel& kernel) {
  int n = 0;
  for (const auto& add : unrounded_values(kernel.stages.front()).adds) n += add.has_value();
  return n;
}

TEST(Unrounded, TakesInAProductThatNothingElseUses) {
  auto fma = [](StageBuilder s, InstId a, InstId b, InstId c) {
    s.op(Op::Add, F, {c, s.op(Op::Mul, F, {a, b})});
  };
  EXPECT_EQ(n_fused(of_three(fma)), 1);
  auto minus = [](StageBuilder s, InstId a, InstId b, InstId c) {
    InstId product = s.op(Op::Mul, F, {a, b});
    s.op(Op::Add, F, {s.op(Op::Mul, F, {s.constant(F, -1), product}), c});
  };
  const kernel::Kernel kernel = of_three(minus);
  ASSERT_EQ(n_fused(kernel), 1);
  EXPECT_TRUE(unrounded_values(kernel.stages.front()).adds.back()->product.negative);
}

TEST(Unrounded, LeavesWhatNeedsTheRoundedProduct) {
  auto used_twice = [](StageBuilder s, InstId a, InstId b, InstId c) {
    InstId product = s.op(Op::Mul, F, {a, b});
    s.op(Op::Mul, F, {s.op(Op::Add, F, {product, c}), product});
  };
  EXPECT_EQ(n_fused(of_three(used_twice)), 0);
  auto two_products = [](StageBuilder s, InstId a, InstId b, InstId c) {
    s.op(Op::Add, F, {s.op(Op::Mul, F, {a, b}), s.op(Op::Mul, F, {b, c})});
  };
  EXPECT_EQ(n_fused(of_three(two_products)), 0);
  auto difference = [](StageBuilder s, InstId a, InstId, InstId c) {
    s.op(Op::Add, F, {a, s.op(Op::Mul, F, {c, s.constant(F, -1)})});
  };
  EXPECT_EQ(n_fused(of_three(difference)), 0);
  auto rounded = [](StageBuilder s, InstId a, InstId b, InstId c) {
    s.op(Op::Add, DType::BF16, {s.op(Op::Mul, DType::BF16, {a, b}), c});
  };
  EXPECT_EQ(n_fused(of_three(rounded, DType::BF16)), 0) << "their products are exact in f32";
}

int n_unrounded(const kernel::Kernel& kernel) {
  int n = 0;
  for (bool unrounded : unrounded_values(kernel.stages.front()).unrounded) n += unrounded;
  return n;
}

TEST(Unrounded, KeepsHalvesInSinglesWhereOneSumOrProductUsesThem) {
  constexpr DType H = DType::BF16;
  auto products = [](StageBuilder s, InstId a, InstId b, InstId c) {
    s.op(Op::Add, H, {s.op(Op::Mul, H, {a, b}), s.op(Op::Mul, H, {b, c})});
  };
  EXPECT_EQ(n_unrounded(of_three(products, H)), 2) << "the sum is the result and is rounded";
  auto squared = [](StageBuilder s, InstId a, InstId b, InstId) {
    InstId sum = s.op(Op::Add, H, {a, b});
    s.op(Op::Mul, H, {sum, sum});
  };
  EXPECT_EQ(n_unrounded(of_three(squared, H)), 0) << "used twice";
  auto compared = [](StageBuilder s, InstId a, InstId b, InstId c) {
    InstId less = s.op(Op::LessThan, DType::Bool, {s.op(Op::Mul, H, {a, b}), c});
    s.op(Op::Select, H, {less, a, b});
  };
  EXPECT_EQ(n_unrounded(of_three(compared, H)), 0) << "a comparison sees what is stored";
  auto cast = [](StageBuilder s, InstId a, InstId b, InstId) {
    InstId wide = s.op(Op::Cast, F, {s.op(Op::Mul, H, {a, b})});
    s.op(Op::Cast, H, {s.op(Op::Add, F, {wide, wide})});
  };
  EXPECT_EQ(n_unrounded(of_three(cast, H)), 0) << "a cast to f32 is of what the dtype holds";
}

TEST(Unrounded, NegativesOfHalvesAreExact) {
  constexpr DType H = DType::F16;
  auto negative = [](StageBuilder s, InstId a, InstId, InstId) {
    s.op(Op::Mul, H, {a, s.constant(H, -1)});
  };
  EXPECT_EQ(n_unrounded(of_three(negative, H)), 1);
  auto of_unrounded = [](StageBuilder s, InstId a, InstId b, InstId) {
    s.op(Op::Mul, H, {s.op(Op::Mul, H, {a, b}), s.constant(H, -1)});
  };
  EXPECT_EQ(n_unrounded(of_three(of_unrounded, H)), 1) << "rounded after the sign instead";
}

std::vector<float> run_on(Jit& jit, const kernel::Kernel& kernel, const EmitOptions& options,
                          const std::vector<std::vector<float>>& in) {
  auto compiled = jit.compile(kernel, options);
  const auto n = static_cast<int64_t>(in[0].size());
  Launch launch = prepare_launch(*compiled, std::vector<int64_t>{n}, {});
  std::vector<float> y(in[0].size());
  std::vector<const void*> params;
  for (const auto& values : in) params.push_back(values.data());
  params.push_back(y.data());
  std::vector<std::byte> scratch(static_cast<size_t>(launch.scratch_bytes) + 64);
  run(launch, params, scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64));
  return y;
}

TEST(Unrounded, GivesTheSameBitsInEveryLaneAndOnEveryTarget) {
  const kernel::Kernel kernel = of_three([](StageBuilder s, InstId a, InstId b, InstId c) {
    s.op(Op::Add, F, {s.op(Op::Mul, F, {a, b}), c});
  });
  // (1 + 2^-12)² − (1 + 2^-11) is 2^-24 before its product is rounded, 0 after.
  const float x = 1 + 0x1p-12f;
  const std::vector<std::vector<float>> in = {std::vector<float>(77, x), std::vector<float>(77, x),
                                              std::vector<float>(77, -(1 + 0x1p-11f))};
  for (Jit* jit : test_jits()) {
    for (float y : run_on(*jit, kernel, {}, in)) EXPECT_EQ(y, 0x1p-24f);
    for (float y : run_on(*jit, kernel, {.contract = false}, in)) EXPECT_EQ(y, 0);
  }
}

TEST(Unrounded, SumsOfProductsAccumulateFused) {
  KernelBuilder b;
  Expr n = Expr::var("n");
  const ParamId x = b.param(F, {n}), z = b.param(F, {n}), y = b.param(F, {1}, true);
  Expr i = b.outer(1), r = b.inner(n);
  StageBuilder s = b.stage(F, {}, kernel::Reduction{Reducer::Sum, b.last_loop()});
  s.op(Op::Mul, F, {s.load(b.k, x, {r}), s.load(b.k, z, {r})});
  b.output(y, {i});
  const kernel::Kernel kernel = b.done();
  EXPECT_TRUE(unrounded_values(kernel.stages.front()).reduced.has_value());
  for (int64_t size : {0, 1, 15, 64, 1000}) {
    expect_like_reference(kernel, {size}, {.ulps = 64, .absolute = 1e-3});
  }
}

}  // namespace
}  // namespace luminal::backends::cpu
