#include "luminal/graph/strided_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "luminal/base/errors.h"

namespace luminal {
namespace {

// 0 … 11 in some dtype.
template <typename T>
struct Twelve {
  alignas(64) std::array<T, 12> values;
  Twelve() { std::iota(values.begin(), values.end(), T(0)); }
  const std::byte* at(size_t first) const {
    return reinterpret_cast<const std::byte*>(values.data() + first);
  }
};

TEST(StridedData, RowMajorElementsAreShared) {
  const Twelve<float> of;
  const TensorData data = row_major(DType::F32, {2, 1, 3}, {3, 77, 1}, of.at(6), nullptr);
  EXPECT_EQ(data.bytes.data(), of.at(6));
  EXPECT_EQ(data.to_ints(), (std::vector<int64_t>{6, 7, 8, 9, 10, 11}));
}

TEST(StridedData, OthersAreCopied) {
  const Twelve<int16_t> of;
  const auto copied = [&](std::vector<int64_t> dims, std::vector<int64_t> strides, size_t first) {
    return row_major(DType::I16, std::move(dims), strides, of.at(first), nullptr).to_ints();
  };
  EXPECT_EQ(copied({3, 2}, {1, 3}, 0), (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(copied({2, 3}, {0, 2}, 1), (std::vector<int64_t>{1, 3, 5, 1, 3, 5}));
  EXPECT_EQ(copied({3}, {-4}, 11), (std::vector<int64_t>{11, 7, 3}));
  EXPECT_EQ(copied({}, {}, 5), (std::vector<int64_t>{5}));
}

TEST(StridedData, WhatLiesUnalignedIsCopied) {
  const Twelve<uint8_t> of;
  const TensorData data = row_major(DType::I32, {2}, {1}, of.at(1), nullptr);
  EXPECT_EQ(data.to_ints(), (std::vector<int64_t>{0x04030201, 0x08070605}));
}

TEST(StridedData, NoElementIsReadWhereThereIsNone) {
  const TensorData data = row_major(DType::F64, {4, 0, 3}, {9, 9, 9}, nullptr, nullptr);
  EXPECT_EQ(data.n_elements(), 0);
  EXPECT_EQ(data.dims, (std::vector<int64_t>{4, 0, 3}));
}

TEST(StridedData, RowMajorElementsAreCopiedBack) {
  const std::array<int64_t, 2> dims = {3, 2}, strides = {1, 4};
  const Twelve<double> of;
  Twelve<double> to;
  std::fill(to.values.begin(), to.values.end(), -1);
  auto* first = reinterpret_cast<std::byte*>(to.values.data());
  copy_from_row_major(dims, strides, sizeof(double), of.at(6), first);
  EXPECT_EQ(to.values, (std::array<double, 12>{6, 8, 10, -1, 7, 9, 11, -1, -1, -1, -1, -1}));
  std::array<double, 6> back = {};
  copy_to_row_major(dims, strides, sizeof(double), first,
                    reinterpret_cast<std::byte*>(back.data()));
  EXPECT_EQ(back, (std::array<double, 6>{6, 7, 8, 9, 10, 11}));
  EXPECT_FALSE(is_row_major(dims, strides));
  copy_from_row_major(std::array<int64_t, 1>{0}, std::array<int64_t, 1>{1}, 8, nullptr, nullptr);
}

TEST(StridedData, MoreThan64BitsCountIsAnError) {
  const Twelve<float> of;
  const int64_t many = int64_t{1} << 40;
  EXPECT_THROW(row_major(DType::F32, {many, many}, {0, 0}, of.at(0), nullptr), UserError);
}

}  // namespace
}  // namespace luminal
