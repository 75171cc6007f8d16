#include "luminal/base/byte_stream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace luminal::base {
namespace {

TEST(ByteStream, ReadsWhatWasWritten) {
  ByteWriter out;
  const uint64_t numbers[] = {0, 1, 127, 128, 300, UINT64_MAX};
  const int64_t integers[] = {0, -1, 63, -64, 64, INT64_MAX, INT64_MIN};
  for (uint64_t number : numbers) out.number(number);
  for (int64_t integer : integers) out.integer(integer);
  out.flag(true);
  out.flag(false);
  out.word(0x0123456789abcdefu);
  out.real(-0.0);
  out.real(std::numeric_limits<double>::infinity());
  out.text("text");
  out.text("");
  ByteReader in(out.bytes());
  for (uint64_t number : numbers) EXPECT_EQ(in.number(), number);
  for (int64_t integer : integers) EXPECT_EQ(in.integer(), integer);
  EXPECT_TRUE(in.flag());
  EXPECT_FALSE(in.flag());
  EXPECT_EQ(in.word(), 0x0123456789abcdefu);
  EXPECT_TRUE(std::signbit(in.real()));
  EXPECT_TRUE(std::isinf(in.real()));
  EXPECT_EQ(in.text(), "text");
  EXPECT_EQ(in.text(), "");
  EXPECT_NO_THROW(in.finish());
}

TEST(ByteStream, WhatDoesNotFitThrows) {
  EXPECT_THROW(ByteReader("").number(), ByteError);
  EXPECT_THROW(ByteReader("\x80").number(), ByteError);
  EXPECT_THROW(ByteReader("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").number(), ByteError);
  EXPECT_THROW(ByteReader("\x05").below(5), ByteError);
  EXPECT_THROW(ByteReader("\x02x").count(), ByteError);
  EXPECT_THROW(ByteReader("\x03yo").text(), ByteError);
  EXPECT_THROW(ByteReader("\x02").flag(), ByteError);
  EXPECT_THROW(ByteReader("1234567").word(), ByteError);
  EXPECT_THROW(ByteReader("x").finish(), ByteError);
  ByteWriter out;
  out.integer(int64_t{1} << 40);
  EXPECT_THROW(ByteReader(out.bytes()).small(), ByteError);
}

}  // namespace
}  // namespace luminal::base
