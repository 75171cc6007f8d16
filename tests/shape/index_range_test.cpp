// What keeps indices inside their dims: proofs for all sizes, and intervals at given ones.
#include "luminal/shape/index/index_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace luminal::shape {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Expr parsed(const std::string& text, const Dims& extents, std::vector<Expr> variables = {}) {
  return parse_expr(text, {.variables = std::move(variables), .extents = extents});
}

TEST(IndexRange, IntervalsProveWhatIsInside) {
  EXPECT_THAT(why_outside(parsed("i0 * 3 + i1", {4, 3}), 12, {}), IsEmpty());
  EXPECT_THAT(why_outside(parsed("i0 * 1000 % 7", {64}), 7, {}), IsEmpty());
  EXPECT_THAT(why_outside(parsed("min(max(i0 - 2, 0), 3)", {64}), 4, {}), IsEmpty());
}

TEST(IndexRange, WhatIsOutsideIsNamedWithItsPlace) {
  EXPECT_EQ(why_outside(parsed("i0 * 1000", {64}), 4, {}), "i0 * 1000 reaches 1000 at i0 = 1");
  EXPECT_THAT(why_outside(parsed("i0 - 2", {64}), 64, {}), HasSubstr("reaches -2 at i0 = 0"));
  EXPECT_THAT(why_outside(parsed("i0 * 1000000000000", {4}), 4, {}), HasSubstr("i0 = 1"));
}

// Intervals alone say 0 … 9 here: the two uses of i0 go together.
TEST(IndexRange, HalvingProvesWhatIntervalsCannot) {
  EXPECT_THAT(why_outside(parsed("i0 - i0 // 2", {10}), 6, {}), IsEmpty());
  EXPECT_THAT(why_outside(parsed("i0 - i0 // 2", {10}), 5, {}), HasSubstr("reaches 5"));
  EXPECT_THAT(why_outside(parsed("max(i0, 9 - i0)", {10}), 10, {}), IsEmpty());
}

TEST(IndexRange, TheSizesOfARunDecide) {
  const Expr p = Expr::var("p", 0, 100), n = Expr::var("n", 0, 100);
  const Expr at = parsed("i0 + p", {n}, {p, n});
  EXPECT_FALSE(known_inside(at, 16));
  EXPECT_THAT(why_outside(at, 16, {{"n", 4}, {"p", 12}}), IsEmpty());
  EXPECT_THAT(why_outside(at, 16, {{"n", 4}, {"p", 13}}), HasSubstr("reaches 16"));
  EXPECT_THAT(why_outside(at, 16, {{"n", 0}, {"p", 100}}), IsEmpty());  // no index, no value
}

TEST(IndexRange, NothingIsReadOfAnEmptyDim) {
  EXPECT_THAT(why_outside(parsed("i0", {4}), 0, {}), IsEmpty());
}

TEST(IndexRange, WhatLeavesSixtyFourBitsIsOutside) {
  const Expr s = Expr::var("s");
  EXPECT_THAT(why_outside(parsed("i0 * s * s * s", {4}, {s}), 4, {{"s", Expr::kMaxVar}}),
              Not(IsEmpty()));
}

// Against every point of small expressions made at random.
TEST(IndexRange, AgreesWithEveryPoint) {
  std::mt19937 random(7);
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const Dims extents = {5, 7};
  const Expr i0 = Expr::index(0, 5), i1 = Expr::index(1, 7);
  int inside = 0;
  for (int t = 0; t < 2000; ++t) {
    Expr e = below(2) ? i0 : i1;
    for (int step = 1 + below(4); step > 0; --step) {
      const Expr other = below(3) ? Expr(below(9) + 1) : below(2) ? i0 : i1;
      switch (below(7)) {
        case 0:
          e = e + other;
          break;
        case 1:
          e = e - other;
          break;
        case 2:
          e = e * other;
          break;
        case 3:
          e = e / Expr(below(5) + 1);
          break;
        case 4:
          e = e % Expr(below(5) + 1);
          break;
        case 5:
          e = min(e, other);
          break;
        default:
          e = max(e, other);
          break;
      }
    }
    const int64_t size = 1 + below(20);
    bool expected = true;
    for (int64_t a = 0; a < 5; ++a) {
      for (int64_t b = 0; b < 7; ++b) {
        const int64_t value = e.evaluate({}, std::vector<int64_t>{a, b}).value.value();
        expected &= value >= 0 && value < size;
      }
    }
    EXPECT_EQ(why_outside(e, size, {}).empty(), expected) << e.text() << " in " << size;
    EXPECT_TRUE(expected || !known_inside(e, size)) << e.text() << " in " << size;
    inside += expected;
  }
  EXPECT_GT(inside, 200);
}

}  // namespace
}  // namespace luminal::shape
