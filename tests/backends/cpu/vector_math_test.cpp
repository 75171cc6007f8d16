// The polynomials over the whole f32 range, against the C library in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "luminal/backends/cpu/launch.h"
#include "tests/backends/cpu/kernel_builder.h"
#include "tests/backends/cpu/kernel_harness.h"

namespace luminal::backends::cpu {
namespace {

kernel::Kernel pointwise(Op op, int n_inputs, DType dtype) {
  KernelBuilder b;
  Expr n = Expr::var("n");
  for (int k = 0; k < n_inputs; ++k) b.param(dtype, {n});
  int y = b.param(dtype, {n}, true);
  Expr i = b.outer(n);
  auto s = b.stage(dtype);
  std::vector<kernel::InstId> operands;
  for (int k = 0; k < n_inputs; ++k) operands.push_back(s.load(b.k, k, {i}));
  s.op(op, dtype, operands);
  b.output(y, {i});
  return b.done();
}

void run_on(Jit& jit, const kernel::Kernel& kernel, std::vector<const void*> params, int64_t n) {
  static std::vector<std::shared_ptr<const CompiledKernel>> kept;  // compiled once for all blocks
  auto compiled = jit.compile(kernel);
  if (kept.empty() || kept.back() != compiled) kept.push_back(compiled);
  Launch launch = prepare_launch(*compiled, std::vector<int64_t>{n}, {});
  alignas(64) static std::byte scratch[4096];
  ASSERT_LE(launch.scratch_bytes, static_cast<int64_t>(sizeof scratch));
  run(launch, params, scratch);
}

double ulp_of(double value) {
  if (value == 0) return 0x1p-149;
  return std::ldexp(1.0, std::max(std::ilogb(value) - 23, -149));
}

struct Worst {
  double ulps = 0;
  float at = 0;
};

// The largest error over every `step`th bit pattern; special values must match outright.
Worst worst_error(Jit& jit, Op op, double (*exact)(double), uint64_t step) {
  const kernel::Kernel kernel = pointwise(op, 1, DType::F32);
  constexpr int64_t kBlock = 1 << 14;
  std::vector<float> x(kBlock), y(kBlock);
  Worst worst;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32);) {
    int64_t n = 0;
    for (; n < kBlock && bits < (uint64_t{1} << 32); bits += step) {
      x[static_cast<size_t>(n++)] = std::bit_cast<float>(static_cast<uint32_t>(bits));
    }
    run_on(jit, kernel, {x.data(), y.data()}, n);
    for (int64_t i = 0; i < n; ++i) {
      const float in = x[static_cast<size_t>(i)], got = y[static_cast<size_t>(i)];
      const double want = exact(in);
      if (std::isnan(want) || std::isnan(got)) {
        EXPECT_TRUE(std::isnan(want) && std::isnan(got)) << in << " gave " << got;
        continue;
      }
      if (std::isinf(static_cast<float>(want)) || std::isinf(got)) {
        // Next to the largest float, one rounding decides.
        const bool near = std::fabs(want) > 0x1.fffffap127;
        EXPECT_TRUE(static_cast<float>(want) == got || near) << in << " gave " << got;
        continue;
      }
      const double error = std::fabs(got - want) / ulp_of(want);
      if (error > worst.ulps) worst = {error, in};
    }
  }
  return worst;
}

void check_floats(Op op, double (*exact)(double), uint64_t step) {
  for (size_t k = 0; k < test_jits().size(); ++k) {
    Worst worst = worst_error(*test_jits()[k], op, exact, k == 0 ? step : step * 11);
    EXPECT_LE(worst.ulps, 2.0) << "at " << worst.at;
    std::printf("%s %s: at most %.3f ULP, at %a\n", std::string(name(op)).c_str(),
                k == 0 ? "host" : "avx2", worst.ulps, static_cast<double>(worst.at));
  }
}

constexpr uint64_t kStep = 97;

TEST(VectorMath, Exp2) { check_floats(Op::Exp2, std::exp2, kStep); }
TEST(VectorMath, Log2) { check_floats(Op::Log2, std::log2, kStep); }
TEST(VectorMath, Sin) { check_floats(Op::Sin, std::sin, kStep); }

TEST(VectorMath, Exp2IsExactAtIntegers) {
  std::vector<float> x, y;
  for (int k = -200; k <= 200; ++k) x.push_back(static_cast<float>(k));
  y.resize(x.size());
  for (Jit* jit : test_jits()) {
    run_on(*jit, pointwise(Op::Exp2, 1, DType::F32), {x.data(), y.data()},
           static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(y[i], static_cast<float>(std::ldexp(1.0, static_cast<int>(x[i])))) << x[i];
    }
  }
}

TEST(VectorMath, SinKeepsMinusZero) {
  std::vector<float> x(40, -0.0f), y(40);
  for (Jit* jit : test_jits()) {
    run_on(*jit, pointwise(Op::Sin, 1, DType::F32), {x.data(), y.data()}, 40);
    for (float v : y) EXPECT_EQ(std::bit_cast<uint32_t>(v), 0x80000000u);
  }
}

TEST(VectorMath, ModIsExactForAnyTwoFloats) {
  std::mt19937_64 random(5);
  constexpr int64_t n = 200000;
  std::vector<float> a(n), b(n), y(n);
  for (int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<size_t>(i);
    a[k] = std::bit_cast<float>(static_cast<uint32_t>(random()));
    b[k] = std::bit_cast<float>(static_cast<uint32_t>(random()));
    // Quotients of all sizes, whole ones and those next to them among them.
    if (i % 2 == 0) b[k] = a[k] / static_cast<float>(1 + random() % 4000);
    if (i % 4 == 0) a[k] = b[k] * static_cast<float>(random() % 100000);
  }
  for (Jit* jit : test_jits()) {
    run_on(*jit, pointwise(Op::Mod, 2, DType::F32), {a.data(), b.data(), y.data()}, n);
    for (size_t i = 0; i < n; ++i) {
      const float want = std::fmod(a[i], b[i]);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(y[i])) << a[i] << " mod " << b[i];
      } else {
        ASSERT_EQ(std::bit_cast<uint32_t>(y[i]), std::bit_cast<uint32_t>(want))
            << a[i] << " mod " << b[i] << " gave " << y[i];
      }
    }
  }
}

}  // namespace
}  // namespace luminal::backends::cpu
