// The polynomials over samples of the whole f32 range, against the C library in double;
// vector_math_all_test.cpp takes every float.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "tests/backends/cpu/kernel_harness.h"
#include "tests/backends/cpu/ulp_scan.h"

namespace luminal::backends::cpu {
namespace {

// Every sign and exponent, with the mantissas where things happen and many between them.
constexpr uint64_t kMantissas = 2048;
uint32_t sampled_bits(uint64_t k) {
  const uint64_t exponent = k / kMantissas, place = k % kMantissas;
  // The first ones, the last ones, and the rest spread out by a multiplier without a pattern.
  const uint64_t mantissa = place < 16   ? place
                            : place < 32 ? 0x7fffff - (place - 16)
                                         : (k * 0x9e3779b97f4a7c15u) >> 41;
  return static_cast<uint32_t>(exponent << 23 | mantissa);
}

double recip(double x) { return 1 / x; }

void check_sample(Op op, double (*exact)(double), double most) {
  const Worst worst = worst_error(op, exact, 512 * kMantissas, sampled_bits);
  EXPECT_LE(worst.ulps, most) << "at " << worst.at;
  std::printf("%s: at most %.3f ULP, at %a\n", std::string(name(op)).c_str(), worst.ulps,
              static_cast<double>(worst.at));
}

TEST(VectorMath, Exp2) { check_sample(Op::Exp2, std::exp2, 2); }
TEST(VectorMath, Log2) { check_sample(Op::Log2, std::log2, 2); }
TEST(VectorMath, Sin) { check_sample(Op::Sin, std::sin, 2); }
TEST(VectorMath, RecipIsRoundedOnce) { check_sample(Op::Recip, recip, 0.5); }
TEST(VectorMath, SqrtIsRoundedOnce) { check_sample(Op::Sqrt, std::sqrt, 0.5); }

// f64 goes by the C library, lane by lane.
TEST(VectorMath, DoublesAreTheLibrarys) {
  const std::vector<double> x = {0.0,      -0.0,      1.0, -1.5, 0x1p-1074, 1e308, -1e308, 3e5,
                                 INFINITY, -INFINITY, NAN, 1e22, 0.3,       7,     1023.5};
  struct {
    Op op;
    double (*exact)(double);
  } rows[] = {{Op::Exp2, std::exp2},
              {Op::Log2, std::log2},
              {Op::Sin, std::sin},
              {Op::Recip, recip},
              {Op::Sqrt, std::sqrt}};
  for (const auto& row : rows) {
    for (size_t jit = 0; jit < test_jits().size(); ++jit) {
      std::vector<double> y(x.size());
      run_pointwise(jit, pointwise(row.op, 1, DType::F64), {x.data(), y.data()},
                    static_cast<int64_t>(x.size()));
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = row.exact(x[i]);
        if (std::isnan(want)) {
          EXPECT_TRUE(std::isnan(y[i])) << name(row.op) << " of " << x[i];
        } else {
          EXPECT_EQ(std::bit_cast<uint64_t>(y[i]), std::bit_cast<uint64_t>(want))
              << name(row.op) << " of " << x[i];
        }
      }
    }
  }
}

// A chunk under a mask gives the bits that a whole one gives.
TEST(VectorMath, ResultsDontDependOnThePlaceInAVector) {
  const std::vector<float> special = {0.1f, 3e6f, -1e30f, 1e-40f, 130.5f, 0.99999f, 1e5f};
  for (Op op : {Op::Exp2, Op::Log2, Op::Sin, Op::Recip, Op::Sqrt}) {
    const kernel::Kernel kernel = pointwise(op, 1, DType::F32);
    for (size_t jit = 0; jit < test_jits().size(); ++jit) {
      for (float value : special) {
        std::vector<float> x(77, value), y(77);
        run_pointwise(jit, kernel, {x.data(), y.data()}, 77);
        for (float got : y) {
          EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(y[0])) << name(op);
        }
      }
    }
  }
}

TEST(VectorMath, Exp2IsExactAtIntegers) {
  std::vector<float> x, y;
  for (int k = -200; k <= 200; ++k) x.push_back(static_cast<float>(k));
  y.resize(x.size());
  for (size_t jit = 0; jit < test_jits().size(); ++jit) {
    run_pointwise(jit, pointwise(Op::Exp2, 1, DType::F32), {x.data(), y.data()},
                  static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(y[i], static_cast<float>(std::ldexp(1.0, static_cast<int>(x[i])))) << x[i];
    }
  }
}

TEST(VectorMath, SinKeepsMinusZero) {
  std::vector<float> x(40, -0.0f), y(40);
  for (size_t jit = 0; jit < test_jits().size(); ++jit) {
    run_pointwise(jit, pointwise(Op::Sin, 1, DType::F32), {x.data(), y.data()}, 40);
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
  for (size_t jit = 0; jit < test_jits().size(); ++jit) {
    run_pointwise(jit, pointwise(Op::Mod, 2, DType::F32), {a.data(), b.data(), y.data()}, n);
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
