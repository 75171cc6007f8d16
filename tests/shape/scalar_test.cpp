// Elements of each dtype: formats of floats, bit patterns, wrapping, and what follows from
// dtypes.def.
#include "luminal/shape/scalar.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "luminal/shape/float_format.h"

namespace luminal {
namespace {

template <typename T>
void expect_format(DType dtype) {
  const FloatFormat format = float_format(dtype);
  EXPECT_EQ(format.ulp(), std::numeric_limits<T>::epsilon());
  EXPECT_EQ(format.smallest(), std::numeric_limits<T>::denorm_min());
  EXPECT_EQ(format.smallest_normal(), std::numeric_limits<T>::min());
  EXPECT_EQ(format.largest(), std::numeric_limits<T>::max());
}

TEST(FloatFormat, IsThatOfTheCppType) {
  expect_format<double>(DType::F64);
  expect_format<float>(DType::F32);
}

TEST(FloatFormat, OfSixteenBits) {
  EXPECT_EQ(float_format(DType::F16).largest(), 65504);
  EXPECT_EQ(float_format(DType::F16).smallest(), 0x1p-24);
  EXPECT_EQ(float_format(DType::BF16).largest(), 0x1.fep127);
  EXPECT_EQ(float_format(DType::BF16).smallest_normal(), 0x1p-126);
}

TEST(Scalar, EachPatternOfSixteenBitsIsThatOfItsValue) {
  for (DType dtype : {DType::F16, DType::BF16}) {
    for (uint64_t bits = 0; bits < 65536; ++bits) {
      const double value = float_value(dtype, bits);
      if (std::isnan(value)) continue;
      ASSERT_EQ(float_bits(dtype, value), bits) << name(dtype);
      ASSERT_EQ(round_to(dtype, value), value) << name(dtype);
    }
  }
}

TEST(Scalar, RoundsToNearestEven) {
  EXPECT_EQ(f16_bits(1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(f16_bits(1 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(f16_bits(65520), 0x7c00);
  EXPECT_EQ(f16_bits(0x1.8p-24), 0x0002);
  EXPECT_EQ(bf16_bits(-(1 + 0x1p-8)), 0xbf80);
  EXPECT_EQ(bf16_bits(std::nan("")), 0x7fc0);
}

TEST(Scalar, IntegersWrap) {
  EXPECT_EQ(wrap_to(DType::I8, 200), -56);
  EXPECT_EQ(wrap_to(DType::U8, -1), 255);
  EXPECT_EQ(wrap_to(DType::I16, 40000), 40000 - 65536);
  EXPECT_EQ(wrap_to(DType::U4, 17), 1);
  EXPECT_EQ(wrap_to(DType::Bool, 2), 1);
}

TEST(Scalar, WhatIsStoredIsLoaded) {
  for (DType dtype : all_dtypes()) {
    std::byte data[32] = {};
    if (is_float(dtype)) {
      store_float(dtype, data, 3, -1.5);
      EXPECT_EQ(load_float(dtype, data, 3), -1.5) << name(dtype);
      EXPECT_EQ(load_float(dtype, data, 2), 0) << name(dtype);
    } else {
      store_int(dtype, data, 3, 1);
      EXPECT_EQ(load_int(dtype, data, 3), 1) << name(dtype);
      EXPECT_EQ(load_int(dtype, data, 2), 0) << name(dtype);
    }
  }
}

TEST(DType, KnowsWhetherItHasASign) {
  for (DType dtype : all_dtypes()) {
    const bool expected = dtype == DType::U8 || dtype == DType::Bool || dtype == DType::U4;
    EXPECT_EQ(is_unsigned(dtype), expected) << name(dtype);
  }
}

TEST(DType, PromotesIntegersToWhatHoldsBoth) {
  EXPECT_EQ(promote(DType::U8, DType::I8), DType::I16);
  EXPECT_EQ(promote(DType::U8, DType::I16), DType::I16);
  EXPECT_EQ(promote(DType::I64, DType::U8), DType::I64);
  EXPECT_EQ(promote(DType::I8, DType::I32), DType::I32);
  EXPECT_EQ(promote(DType::U8, DType::U8), DType::U8);
}

}  // namespace
}  // namespace luminal
