#include "luminal/runtime/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "luminal/base/errors.h"
#include "luminal/runtime/arena.h"

namespace luminal::runtime {
namespace {

TEST(Buffer, IsZeroedAndAlignedInEverySize) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{4095}, size_t{4} << 20, (size_t{9} << 20) + 3}) {
    const Buffer buffer = Buffer::allocate(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.bytes().data()) % Buffer::kAlignment, 0u);
    EXPECT_TRUE(std::all_of(buffer.bytes().begin(), buffer.bytes().end(),
                            [](std::byte b) { return b == std::byte{0}; }));
    std::fill(buffer.writable().begin(), buffer.writable().end(), std::byte{7});
    const Buffer copy = buffer.copy();
    EXPECT_TRUE(std::equal(copy.bytes().begin(), copy.bytes().end(), buffer.bytes().begin()));
    EXPECT_NE(copy.bytes().data(), buffer.bytes().data());
  }
}

TEST(Buffer, FirstIsTheSameMemory) {
  const Buffer buffer = Buffer::allocate(100);
  const Buffer part = buffer.first(40);
  EXPECT_EQ(part.size(), 40u);
  EXPECT_EQ(part.bytes().data(), buffer.bytes().data());
  part.writable()[0] = std::byte{3};
  EXPECT_EQ(buffer.bytes()[0], std::byte{3});
  EXPECT_THROW(buffer.first(101), InternalError);
}

TEST(Buffer, PartsKeepTheMemory) {
  Buffer buffer = Buffer::allocate(100);
  const Buffer part = buffer.part(60, 40);
  EXPECT_EQ(part.bytes().data(), buffer.bytes().data() + 60);
  EXPECT_THROW(buffer.part(61, 40), InternalError);
  EXPECT_THROW(buffer.part(101, 0), InternalError);
  buffer = {};
  part.writable()[39] = std::byte{3};
  EXPECT_EQ(part.part(39, 1).bytes()[0], std::byte{3});
}

TEST(Arena, GrowsPastItsHighWaterMarkOnly) {
  Arena arena;
  const std::byte* start = arena.reserve(1000);
  EXPECT_EQ(arena.reserve(10), start);
  EXPECT_EQ(arena.reserve(1000), start);
  EXPECT_EQ(arena.size(), 1000u);
  arena.reserve(5 << 20);
  EXPECT_EQ(arena.size(), size_t{5} << 20);
}

}  // namespace
}  // namespace luminal::runtime
