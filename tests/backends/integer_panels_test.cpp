// Rows of bf16 by weights of small integers that become bf16: few rows multiply the integers as
// they are, many multiply what is made of them block by block. On targets without such products,
// f32.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <random>

#include "luminal/backends/cpu/target/target.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

struct Weight {
  int64_t columns = 48, depth = 256;
  DType dtype = DType::I8;
  int64_t block = 32;
  bool offsets = false;
};

const Weight kWeights[] = {
    {},
    {.dtype = DType::U4},
    {.columns = 33, .depth = 96, .dtype = DType::U4, .offsets = true},
    {.columns = 17, .depth = 48, .block = 16},
    {.columns = 16, .depth = 2080},  // more than one part of k, the last one short
    {.columns = 600, .depth = 64, .dtype = DType::U8, .block = 8, .offsets = true},
};

// x [rows, depth] by the weight's values, both in `dtype`.
class Product {
 public:
  Product(const Weight& weight, DType dtype, const Expr& rows, const std::string& target = "")
      : weight_(weight), dtype_(dtype) {
    const int64_t n = weight.columns, k = weight.depth, blocks = k / weight.block;
    x_ = graph_.input("x", {rows, k}, dtype);
    const auto each = [&](const char* name, Tensor& plane) {
      plane = graph_.weight(name, {n, blocks}, DType::F16);
      const Tensor one = plane.cast(DType::F32).unsqueeze(-1);
      return one.expand({n, blocks, weight.block}).reshape({n, k});
    };
    Tensor q = graph_.weight("q", {n, k}, weight.dtype), scales, offsets;
    Tensor values = q.cast(DType::F32);
    if (weight.dtype == DType::U4) values -= 8;
    values *= each("scales", scales);
    if (weight.offsets) values += each("offsets", offsets);
    y_ = matmul(x_, values.cast(dtype).t()).output("y");
    exe_ = compile(graph_, {.backend = {.target = target}, .storage = {.cache_folder = "none"}});

    std::mt19937 random(3);
    const int64_t least = weight.dtype == DType::I8 ? -128 : 0;
    const int64_t count = weight.dtype == DType::U4 ? 16 : 256;
    std::vector<float> integers, of_scales, of_offsets;
    for (int64_t i = 0; i < n * k; ++i) {
      integers.push_back(static_cast<float>(least + static_cast<int64_t>(random()) % count));
    }
    for (int64_t i = 0; i < n * blocks; ++i) {
      of_scales.push_back(static_cast<float>(random() % 64 + 64) / 1024);
      of_offsets.push_back(static_cast<float>(random() % 64) / 64);
    }
    exe_->set(q, as(weight.dtype, {n, k}, integers));
    exe_->set(scales, of_scales);
    if (weight.offsets) exe_->set(offsets, of_offsets);
    const float zero = weight.dtype == DType::U4 ? 8 : 0;
    for (size_t i = 0; i < integers.size(); ++i) {
      const size_t of_block = i / static_cast<size_t>(weight.block);
      values_.push_back(double(integers[i] - zero) * of_scales[of_block] +
                        (weight.offsets ? of_offsets[of_block] : 0));
    }
  }

  // A weight may be rounded to bf16 or not, and so is a result.
  void check(int64_t rows) {
    std::mt19937 random(static_cast<unsigned>(rows) + 1);
    std::vector<float> x;
    for (int64_t i = 0; i < rows * weight_.depth; ++i) {
      x.push_back(static_cast<float>(static_cast<int>(random() % 255) - 127) / 64);
    }
    exe_->set(x_, x);
    Bindings sizes;
    if (!x_.dim(0).to_int()) sizes.set("s", rows);
    exe_->run(sizes);
    const std::vector<float> got = exe_->get<float>(y_);
    ASSERT_EQ(got.size(), static_cast<size_t>(rows * weight_.columns));
    const double rounding = dtype_ == DType::BF16 ? 0x1p-9 : 0x1p-15;
    for (size_t i = 0; i < got.size(); ++i) {
      const auto depth = static_cast<size_t>(weight_.depth);
      const size_t row = i / static_cast<size_t>(weight_.columns);
      const size_t column = i % static_cast<size_t>(weight_.columns);
      double sum = 0, size = 0;
      for (size_t k = 0; k < depth; ++k) {
        const double term = x[row * depth + k] * values_[column * depth + k];
        sum += term;
        size += std::abs(term);
      }
      ASSERT_NEAR(got[i], sum, rounding * (size + 2 * std::abs(sum))) << row << " " << column;
    }
  }

 private:
  static TensorData as(DType dtype, const std::vector<int64_t>& dims,
                       const std::vector<float>& values) {
    TensorData::Writable data = TensorData::zeros(DType::F32, dims);
    std::memcpy(data.bytes.data(), values.data(), values.size() * sizeof(float));
    return data.data.cast(dtype);
  }

  const Weight weight_;
  const DType dtype_;
  Graph graph_;
  Tensor x_, y_;
  std::optional<Executable> exe_;
  std::vector<double> values_;
};

TEST(IntegerPanels, EveryFormAndEveryNumberOfRows) {
  for (const Weight& weight : kWeights) {
    Product product(weight, DType::BF16, Expr::var("s", 0, 300));
    for (int64_t rows : {300, 1, 33, 0, 9}) product.check(rows);
  }
}

TEST(IntegerPanels, FewRowsAlone) {
  for (const Weight& weight : kWeights) {
    for (int64_t rows : {1, 3, 8, 9, 16}) {
      Product product(weight, DType::BF16, rows);
      product.check(rows);
      product.check(rows);
    }
  }
}

TEST(IntegerPanels, EveryTargetOfThisMachine) {
  for (const auto& target : backends::cpu::Target::here()) {
    for (const Weight& weight : kWeights) {
      for (DType dtype : {DType::BF16, DType::F32}) {
        Product product(weight, dtype, Expr::var("s", 0, 300), target.name);
        for (int64_t rows : {40, 2}) product.check(rows);
      }
    }
  }
}

}  // namespace
}  // namespace luminal
