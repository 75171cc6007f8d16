// Rows by weights of four bits with offsets, which are multiplied as whole numbers where the
// processor has dot products of bytes: as precise as sums in f32, whatever the rows hold.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>

#include "luminal/luminal.h"

namespace luminal {
namespace {

constexpr int64_t kColumns = 48, kBlock = 32;

// x [rows, depth] by (q − 8) · scale, with a scale for every kBlock along k.
struct Product {
  Product(int64_t n_rows, int64_t n_depth) : rows(n_rows), depth(n_depth) {
    const int64_t blocks = depth / kBlock;
    x = graph.input("x", {rows, depth});
    q = graph.weight("q", {kColumns, depth}, DType::U4);
    scale = graph.weight("scale", {kColumns, blocks});
    const Tensor each =
        scale.unsqueeze(-1).expand({kColumns, blocks, kBlock}).reshape({kColumns, depth});
    y = matmul(x, ((q.cast(DType::F32) - 8) * each).t());
    y.output("y");
    std::mt19937 random(5);
    for (int64_t i = 0; i < kColumns * depth; ++i) integers.push_back(random() % 16);
    for (int64_t i = 0; i < kColumns * blocks; ++i) {
      scales.push_back(std::ldexp(1.0f, static_cast<int>(random() % 4)));
    }
  }

  std::vector<float> run(const std::vector<float>& values) {
    if (!exe) {
      exe = compile(graph, {.cache_folder = "none"});
      exe->set(q, packed_integers());
      exe->set(scale, scales);
    }
    exe->set(x, values);
    exe->run();
    return exe->get<float>(y);
  }

  TensorData packed_integers() const {
    TensorData::Writable data = TensorData::zeros(DType::I64, {kColumns, depth});
    std::memcpy(data.bytes.data(), integers.data(), integers.size() * sizeof(int64_t));
    return data.data.cast(DType::U4);
  }

  // And by how much each may be off: a rounding of f32 for each term of its sum and of the
  // offsets'.
  void expect_sums(const std::vector<float>& values) {
    const std::vector<float> got = run(values);
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t n = 0; n < kColumns; ++n) {
        double want = 0, size = 0;
        for (int64_t k = 0; k < depth; ++k) {
          const double v = values[static_cast<size_t>(row * depth + k)];
          const double s = scales[static_cast<size_t>(n * (depth / kBlock) + k / kBlock)];
          const auto u4 = static_cast<double>(integers[static_cast<size_t>(n * depth + k)]);
          want += v * (u4 - 8) * s;
          size += std::abs(v) * (u4 + 8) * s;
        }
        const double allowed = 8 * 0x1p-24 * size + 0x1p-120;
        ASSERT_NEAR(got[static_cast<size_t>(row * kColumns + n)], want, allowed) << row << " " << n;
      }
    }
  }

  int64_t rows, depth;
  Graph graph;
  std::optional<Executable> exe;
  Tensor x, q, scale, y;
  std::vector<int64_t> integers;
  std::vector<float> scales;
};

std::vector<float> random_values(int64_t count, double exponents) {
  std::mt19937 random(9);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<double> exponent(-exponents, exponents);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(normal(random) * static_cast<float>(std::exp2(exponent(random))));
  }
  return values;
}

TEST(FixedPoint, RowsOfAnyRangeArePrecise) {
  for (int64_t rows : {1, 2, 3, 4, 5, 7, 8}) {
    Product product(rows, 256);
    for (double exponents : {0.0, 6.0, 30.0, 60.0}) {
      product.expect_sums(random_values(rows * 256, exponents));
    }
  }
}

TEST(FixedPoint, RowsOfSmallNumbersAndOfNone) {
  Product product(2, 64);
  std::vector<float> values = random_values(128, 0);
  for (float& value : values) value *= 0x1p-100f;
  product.expect_sums(values);
  for (float& value : values) value *= 0x1p-30f;  // subnormal
  product.expect_sums(values);
  product.expect_sums(std::vector<float>(128, 0.0f));
}

TEST(FixedPoint, SumsOfWholeNumbersAreExact) {
  Product product(3, 96);
  std::mt19937 random(11);
  std::vector<float> values;
  for (int64_t i = 0; i < 3 * 96; ++i) {
    values.push_back(static_cast<float>(static_cast<int>(random() % 2001) - 1000));
  }
  const std::vector<float> got = product.run(values);
  for (size_t row = 0; row < 3; ++row) {
    for (size_t n = 0; n < kColumns; ++n) {
      double want = 0;
      for (size_t k = 0; k < 96; ++k) {
        want += values[row * 96 + k] * (static_cast<double>(product.integers[n * 96 + k]) - 8) *
                product.scales[n * 3 + k / kBlock];
      }
      ASSERT_EQ(got[row * kColumns + n], want) << row << " " << n;
    }
  }
}

TEST(FixedPoint, WhatIsNotFiniteStaysInItsRow) {
  for (float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                    std::nanf("")}) {
    Product product(3, 64);
    std::vector<float> values = random_values(3 * 64, 0);
    const std::vector<float> before = product.run(values);
    values[64 + 40] = bad;
    const std::vector<float> got = product.run(values);
    for (size_t i = 0; i < got.size(); ++i) {
      const bool second_row = i / kColumns == 1;
      if (second_row) {
        EXPECT_FALSE(std::isfinite(got[i])) << i;
      } else {
        EXPECT_EQ(got[i], before[i]) << i;
      }
    }
  }
}

}  // namespace
}  // namespace luminal
