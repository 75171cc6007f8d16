// Rows by weights of four bits with offsets, which are multiplied as whole numbers where the
// processor has dot products of bytes: as precise as sums in f32, whatever the rows hold.
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

TEST(FixedPoint, RowsOfSmallNumbersAndOfNone) {
  QuantisedProduct product(2, {.depth = 64});
  std::vector<float> values = random_values(128, 0);
  for (float& value : values) value *= 0x1p-100f;
  product.expect_sums(values);
  for (float& value : values) value *= 0x1p-30f;  // subnormal
  product.expect_sums(values);
  product.expect_sums(std::vector<float>(128, 0.0f));
}

TEST(FixedPoint, SumsOfWholeNumbersAreExact) {
  QuantisedProduct product(3, {.depth = 96});
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

TEST(FixedPoint, WhatIsNotFiniteStaysInItsRow) {
  QuantisedProduct product(3, {.depth = 64});
  product.expect_bad_elements_stay(3, random_values(3 * 64, 0));
}

}  // namespace
}  // namespace luminal
