// Rows by weights of small integers, with a scale for every few of them: what a product gives, and
// what it should give.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

#include "luminal/luminal.h"

namespace luminal {

struct QuantisedWeight {
  int64_t columns = 48, depth = 256;
  DType dtype = DType::U4;
  int64_t zero = 8;    // that integers have taken off
  int64_t block = 32;  // integers with a scale

  int64_t n_blocks() const { return depth / block; }
};

// x [rows, depth] by (q − zero) · scale.
struct QuantisedProduct {
  QuantisedProduct(Expr n_rows, const QuantisedWeight& of) : weight(of) {
    const int64_t columns = of.columns;
    x = graph.input("x", {n_rows, of.depth});
    q = graph.weight("q", {columns, of.depth}, of.dtype);
    scale = graph.weight("scale", {columns, of.n_blocks()});
    const Tensor each =
        scale.unsqueeze(-1).expand({columns, of.n_blocks(), of.block}).reshape({columns, of.depth});
    Tensor numbers = q.cast(DType::F32);
    if (of.zero != 0) numbers = numbers - static_cast<double>(of.zero);
    y = matmul(x, (numbers * each).t());
    y.output("y");
    std::mt19937 random(5);
    const int64_t least = of.dtype == DType::I8 ? -128 : 0;
    const int64_t count = of.dtype == DType::U4 ? 16 : 256;
    for (int64_t i = 0; i < columns * of.depth; ++i) {
      integers.push_back(least + static_cast<int64_t>(random()) % count);
    }
    for (int64_t i = 0; i < columns * of.n_blocks(); ++i) {
      scales.push_back(std::ldexp(1.0f, static_cast<int>(random() % 4)));
    }
  }

  // With so many rows, where they are a variable, "s".
  std::vector<float> run(const std::vector<float>& values) {
    if (!exe) {
      exe = compile(graph, {.storage = {.cache_folder = "none"}});
      exe->set(q, packed_integers());
      exe->set(scale, scales);
    }
    exe->set(x, values);
    Bindings sizes;
    if (!x.dim(0).to_int()) sizes.set("s", n_rows(values));
    exe->run(sizes);
    return exe->get<float>(y);
  }

  int64_t n_rows(const std::vector<float>& values) const {
    return static_cast<int64_t>(values.size()) / weight.depth;
  }

  TensorData packed_integers() const {
    TensorData::Writable data = TensorData::zeros(DType::I64, {weight.columns, weight.depth});
    std::memcpy(data.bytes.data(), integers.data(), integers.size() * sizeof(int64_t));
    return data.data.cast(weight.dtype);
  }

  // The sum of one row and column, and of the absolute values of its terms and of their zeros'; the
  // latter also with the largest element of each block in place of all of them.
  struct Sum {
    double value = 0, size = 0, largest = 0;
  };
  Sum wanted(const std::vector<float>& values, int64_t row, int64_t n) const {
    Sum sum;
    const auto zero = static_cast<double>(weight.zero);
    for (int64_t k = 0; k < weight.depth; ++k) {
      const double v = values[static_cast<size_t>(row * weight.depth + k)];
      const double s = scales[static_cast<size_t>(n * weight.n_blocks() + k / weight.block)];
      const auto integer = static_cast<double>(integers[static_cast<size_t>(n * weight.depth + k)]);
      sum.value += v * (integer - zero) * s;
      sum.size += std::abs(v) * (std::abs(integer) + zero) * s;
      sum.largest += largest_around(values, row, k) * (std::abs(integer) + zero) * s;
    }
    return sum;
  }
  double largest_around(const std::vector<float>& values, int64_t row, int64_t k) const {
    const int64_t first = row * weight.depth + k / weight.block * weight.block;
    double largest = 0;
    for (int64_t i = first; i < first + weight.block; ++i) {
      largest = std::max<double>(largest, std::abs(values[static_cast<size_t>(i)]));
    }
    return largest;
  }

  // Each may be off by a few roundings of f32 of its sum, and by what is left out of each term:
  // a part of it, and a part of what it were with the largest element around.
  void expect_sums(const std::vector<float>& values, double left_out = 0,
                   double left_out_of_largest = 0) {
    const std::vector<float> got = run(values);
    for (int64_t row = 0; row < n_rows(values); ++row) {
      for (int64_t n = 0; n < weight.columns; ++n) {
        const Sum sum = wanted(values, row, n);
        const double allowed =
            (8 * 0x1p-24 + left_out) * sum.size + left_out_of_largest * sum.largest + 0x1p-112;
        ASSERT_NEAR(got[static_cast<size_t>(row * weight.columns + n)], sum.value, allowed)
            << row << " " << n;
      }
    }
  }

  // An element that isn't finite makes its row so, and changes no other.
  void expect_bad_elements_stay(int64_t rows, std::vector<float> values) {
    const std::vector<float> before = run(values);
    for (float bad : {HUGE_VALF, -HUGE_VALF, std::nanf("")}) {
      std::vector<float> changed = values;
      changed[static_cast<size_t>((rows - 2) * weight.depth + 40)] = bad;
      const std::vector<float> got = run(changed);
      for (size_t i = 0; i < got.size(); ++i) {
        const auto row = static_cast<int64_t>(i) / weight.columns;
        if (row == rows - 2) {
          EXPECT_FALSE(std::isfinite(got[i])) << i;
        } else {
          EXPECT_EQ(got[i], before[i]) << i;
        }
      }
    }
  }

  QuantisedWeight weight;
  Graph graph;
  std::optional<Executable> exe;
  Tensor x, q, scale, y;
  std::vector<int64_t> integers;
  std::vector<float> scales;
};

inline std::vector<float> random_values(int64_t count, double exponents) {
  std::mt19937 random(9);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<double> exponent(-exponents, exponents);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(normal(random) * static_cast<float>(std::exp2(exponent(random))));
  }
  return values;
}

}  // namespace luminal
