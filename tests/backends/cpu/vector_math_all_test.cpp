// The polynomials at every one of the 2^32 floats, against the C library in double.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/backends/cpu/ulp_scan.h"

namespace luminal::backends::cpu {
namespace {

double recip(double x) { return 1 / x; }

void check_all(Op op, double (*exact)(double), double most) {
  const Worst worst = worst_error(op, exact, uint64_t{1} << 32,
                                  [](uint64_t bits) { return static_cast<uint32_t>(bits); });
  EXPECT_LE(worst.ulps, most) << "at " << worst.at;
  std::printf("%s: at most %.4f ULP over all floats, at %a\n", std::string(name(op)).c_str(),
              worst.ulps, static_cast<double>(worst.at));
}

// The bounds are those docs/numerics.md states.
TEST(EveryFloat, Exp2) { check_all(Op::Exp2, std::exp2, 0.9); }
TEST(EveryFloat, Log2) { check_all(Op::Log2, std::log2, 1.1); }
TEST(EveryFloat, Sin) { check_all(Op::Sin, std::sin, 1.6); }
TEST(EveryFloat, Recip) { check_all(Op::Recip, recip, 0.5); }
TEST(EveryFloat, Sqrt) { check_all(Op::Sqrt, std::sqrt, 0.5); }

}  // namespace
}  // namespace luminal::backends::cpu
