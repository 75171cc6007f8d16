// Rows by weights of four and eight bits, which are multiplied as whole numbers where the processor
// has dot products of bytes: as precise as sums in f32, but for 2^-30 of a block's largest element.
#include "tests/backends/quantised_product.h"

namespace luminal {
namespace {

TEST(FixedPoint, RowsOfAnyRangeArePrecise) {
  for (int64_t rows : {1, 2, 3, 4, 5, 7, 8}) {
    QuantisedProduct product(rows, {});
    for (double exponents : {0.0, 6.0, 30.0, 60.0}) {
      product.expect_sums(random_values(rows * 256, exponents));
    }
  }
}

// With no zero taken off, and with blocks as short as formats have.
TEST(FixedPoint, BytesArePrecise) {
  for (const QuantisedWeight& weight :
       {QuantisedWeight{.dtype = DType::I8, .zero = 0},
        QuantisedWeight{.columns = 17, .depth = 96, .dtype = DType::I8, .zero = 0, .block = 16},
        QuantisedWeight{.dtype = DType::I8, .zero = 0, .block = 256},
        QuantisedWeight{.dtype = DType::U8, .zero = 128},
        QuantisedWeight{.columns = 31, .depth = 512, .dtype = DType::U8, .zero = 3, .block = 8}}) {
    for (int64_t rows : {1, 2, 3, 4, 5, 8}) {
      QuantisedProduct product(rows, weight);
      for (double exponents : {0.0, 6.0, 30.0, 60.0}) {
        product.expect_sums(random_values(rows * weight.depth, exponents), 0, 0x1p-30);
      }
    }
  }
}

// Blocks whose sums of digits don't fit are multiplied as floats.
TEST(FixedPoint, LongBlocksOfBytesArePrecise) {
  QuantisedProduct product(2, {.depth = 1024, .dtype = DType::I8, .zero = 0, .block = 512});
  for (double exponents : {0.0, 30.0}) product.expect_sums(random_values(2 * 1024, exponents));
}

// All integers −128, all elements alike: what sums of digits are at most.
TEST(FixedPoint, TheLargestSumsOfBytesFit) {
  for (int64_t block : {32, 256}) {
    QuantisedProduct product(1, {.depth = 256, .dtype = DType::I8, .zero = 0, .block = block});
    std::ranges::fill(product.integers, -128);
    for (float x : {1.0f, -1.0f, 0x1.fffffep0f, -0x1.fffffep0f}) {
      product.expect_sums(std::vector<float>(256, x));
    }
  }
}

TEST(FixedPoint, RowsOfSmallNumbersAndOfNone) {
  QuantisedProduct product(2, {.depth = 64});
  std::vector<float> values = random_values(128, 0);
  for (float& value : values) value *= 0x1p-100f;
  product.expect_sums(values);
  for (float& value : values) value *= 0x1p-30f;  // subnormal
  product.expect_sums(values);
  product.expect_sums(std::vector<float>(128, 0.0f));
}

class FixedPointOf : public testing::TestWithParam<DType> {
 protected:
  QuantisedWeight weight(int64_t depth) const {
    return {.depth = depth, .dtype = GetParam(), .zero = GetParam() == DType::U4 ? 8 : 0};
  }
};

INSTANTIATE_TEST_SUITE_P(Integers, FixedPointOf, testing::Values(DType::U4, DType::I8, DType::U8));

TEST_P(FixedPointOf, SumsOfWholeNumbersAreExact) {
  QuantisedProduct product(3, weight(96));
  std::mt19937 random(11);
  std::vector<float> values;
  for (int64_t i = 0; i < 3 * 96; ++i) {
    values.push_back(static_cast<float>(static_cast<int>(random() % 2001) - 1000));
  }
  const std::vector<float> got = product.run(values);
  for (size_t i = 0; i < got.size(); ++i) {
    const auto row = static_cast<int64_t>(i) / product.weight.columns;
    const auto n = static_cast<int64_t>(i) % product.weight.columns;
    ASSERT_EQ(got[i], product.wanted(values, row, n).value) << row << " " << n;
  }
}

TEST_P(FixedPointOf, WhatIsNotFiniteStaysInItsRow) {
  QuantisedProduct product(3, weight(64));
  product.expect_bad_elements_stay(3, random_values(3 * 64, 0));
}

}  // namespace
}  // namespace luminal
