// Many rows by weights of small integers, which are multiplied on tiles of bf16 where the processor
// has those: short sums are as precise as in f32 whatever the rows hold, and of long ones no more
// is left out of a term than is said.
#include "tests/backends/against_interpreter.h"
#include "tests/backends/quantised_product.h"

namespace luminal {
namespace {

const QuantisedWeight kForms[] = {
    {.dtype = DType::U4, .zero = 8},
    {.dtype = DType::I8, .zero = 0},
    {.dtype = DType::U8, .zero = 128},
    {.columns = 40, .depth = 544, .dtype = DType::I8, .zero = 0},  // no whole panels nor ranges
    {.columns = 17, .depth = 96, .dtype = DType::U4, .zero = 8},
    {.depth = 384, .dtype = DType::I8, .zero = 0, .block = 128},
    {.depth = 512, .dtype = DType::U8, .zero = 0, .block = 256},
    {.depth = 96, .dtype = DType::I8, .zero = 0, .block = 16},  // too short a stretch for a tile
    {.columns = 600, .depth = 64},                              // several blocks side by side
};

// Of each term of a sum.
double left_out(const QuantisedWeight& weight) { return weight.depth < 256 ? 0 : 0x1p-17; }

TEST(IntegerTiles, EveryFormIsPrecise) {
  for (const QuantisedWeight& weight : kForms) {
    for (int64_t rows : {9, 16, 17, 45}) {
      QuantisedProduct product(rows, weight);
      product.expect_sums(random_values(rows * weight.depth, 0), left_out(weight));
    }
  }
}

// Here one term may be most of a sum.
TEST(IntegerTiles, RowsOfAnyRangeArePrecise) {
  for (double exponents : {6.0, 30.0, 60.0}) {
    for (int64_t depth : {224, 256}) {
      QuantisedProduct product(33, {.depth = depth});
      product.expect_sums(random_values(33 * depth, exponents), left_out(product.weight));
    }
  }
}

TEST(IntegerTiles, LargeNumbersStayFinite) {
  QuantisedProduct product(16, {.depth = 256, .dtype = DType::I8, .zero = 0});
  product.integers.assign(product.integers.size(), -1);
  product.scales.assign(product.scales.size(), 1.0f);
  std::vector<float> values(16 * 256, 0.0f);
  for (size_t row = 0; row < 16; ++row) values[row * 256 + row] = 3.3e38f;
  product.expect_sums(values, left_out(product.weight));
}

// More than a block of them, and after that few, and none.
TEST(IntegerTiles, RowsMayChangeFromRunToRun) {
  for (const QuantisedWeight& weight : {kForms[0], kForms[3], kForms[8]}) {
    QuantisedProduct product(Expr::var("s", 0, 300), weight);
    for (int64_t rows : {300, 1, 129, 3, 0, 15, 128}) {
      product.expect_sums(random_values(rows * weight.depth, 3), left_out(weight));
    }
  }
}

TEST(IntegerTiles, RowsOfSmallNumbersAndOfNone) {
  QuantisedProduct product(20, {.depth = 64});
  std::vector<float> values = random_values(20 * 64, 0);
  for (float& value : values) value *= 0x1p-100f;
  product.expect_sums(values);
  for (float& value : values) value *= 0x1p-30f;  // subnormal: they may count as zeros
  product.expect_sums(values);
  product.expect_sums(std::vector<float>(20 * 64, 0.0f));
}

// What is left out of x is left out of the sums that zeros are multiplied with, too.
TEST(IntegerTiles, WeightsThatAreZeroGiveZeros) {
  QuantisedProduct product(16, {.depth = 512});
  product.integers.assign(product.integers.size(), 8);
  const std::vector<float> values(16 * 512, 1 + 0x1p-9f + 0x1p-17f);
  for (float sum : product.run(values)) EXPECT_EQ(sum, 0);
}

TEST(IntegerTiles, GateAndUpInOneKernel) {
  Graph graph;
  const int64_t hidden = 256, width = 176;
  const Tensor x = graph.input("x", {Expr::var("s", 1, 200), hidden});
  const auto projected = [&](const char* name) {
    const std::string scales = std::string(name) + ".scales";
    const Tensor q = graph.weight(name, {width, hidden}, DType::I8).cast(DType::F32);
    const Tensor each = graph.weight(scales, {width, hidden / 32}).unsqueeze(-1);
    const Tensor scale = each.expand({width, hidden / 32, 32}).reshape({width, hidden});
    return matmul(x, (q * scale * 0.02).t());
  };
  const Tensor y = (silu(projected("gate")) * projected("up")).output("y");
  Comparison comparison{.graph = graph, .results = {y}, .relative = 1e-4};
  comparison.run({{{"s", 150}}, {{"s", 17}}, {{"s", 1}}});
}

TEST(IntegerTiles, WhatIsNotFiniteStaysInItsRow) {
  for (const QuantisedWeight& weight : {kForms[0], kForms[1]}) {
    QuantisedProduct product(18, weight);
    product.expect_bad_elements_stay(18, random_values(18 * weight.depth, 0));
  }
}

}  // namespace
}  // namespace luminal
