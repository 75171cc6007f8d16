#include "luminal/base/os/memory.h"

#include "luminal/base/errors.h"
#include "luminal/base/os/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace luminal::base {
namespace {

using testing::HasSubstr;

// A file of these bytes, removed again when the scope ends.
class TestFile {
 public:
  explicit TestFile(const std::string& text)
      : path(testing::TempDir() + "luminal_" + std::to_string(process_id()) + "_" +
             std::to_string(count_++)) {
    std::ofstream(path, std::ios::binary) << text;
  }
  ~TestFile() { std::filesystem::remove(path); }

  const std::string path;

 private:
  static inline int count_ = 0;
};

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.size()};
}

template <typename Error>
std::string message_of(const std::string& path) {
  try {
    MappedFile file(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(MappedFile, HoldsTheBytesOfTheFile) {
  const TestFile file("some bytes");
  EXPECT_EQ(text_of(MappedFile(file.path)), "some bytes");
}

TEST(MappedFile, OutlivesTheNameOfTheFile) {
  const TestFile file("still here");
  const MappedFile mapped(file.path);
  std::filesystem::remove(file.path);
  EXPECT_EQ(text_of(mapped), "still here");
}

TEST(MappedFile, AnEmptyFileIsAnEmptySpan) {
  const TestFile file("");
  EXPECT_TRUE(MappedFile(file.path).bytes().empty());
}

TEST(MappedFile, MovesWithItsBytes) {
  const TestFile one("one"), two("two");
  MappedFile first(one.path);
  MappedFile second(two.path);
  second = std::move(first);
  EXPECT_EQ(text_of(second), "one");
  EXPECT_EQ(first.size(), 0u);
  MappedFile third(std::move(second));
  EXPECT_EQ(text_of(third), "one");
  MappedFile& alias = third;
  third = std::move(alias);
  EXPECT_EQ(text_of(third), "one");
}

TEST(MappedFile, DroppedPagesAreReadAgain) {
  const TestFile file(std::string(16 << 20, 'x') + std::string(16 << 20, 'y'));
  const MappedFile mapped(file.path);
  const std::string all = text_of(mapped);
  const uint64_t before = resident_bytes();
  drop_mapped_pages(mapped.bytes().subspan(100));
  EXPECT_LT(resident_bytes() + (24 << 20), before);
  EXPECT_EQ(text_of(mapped), all);
}

TEST(MappedFile, OtherMemoryIsNotDropped) {
  const TestFile file("some bytes");
  const MappedFile mapped(file.path);
  LargeBuffer buffer(8 << 20);
  std::memset(buffer.bytes().data(), 7, buffer.size());
  drop_mapped_pages(buffer.bytes());
  for (std::byte b : buffer.bytes()) ASSERT_EQ(b, std::byte{7});
}

TEST(MappedFile, AMissingFileIsTheUsersErrorAndNamesThePath) {
  const std::string message = message_of<UserError>("/nowhere/weights.bin");
  EXPECT_THAT(message, HasSubstr("'/nowhere/weights.bin'"));
  EXPECT_THAT(message, HasSubstr("No such file"));
}

TEST(MappedFile, AFolderIsRejected) {
  EXPECT_THAT(message_of<UserError>(testing::TempDir()), HasSubstr("is a folder"));
}

TEST(MappedFile, ADeviceIsRejected) {
  EXPECT_THAT(message_of<UserError>("/dev/null"), HasSubstr("not a regular file"));
}

TEST(LargeBuffer, IsZeroedAlignedAndWritableToItsEnd) {
  LargeBuffer buffer(3'000'001);
  EXPECT_EQ(buffer.size(), 3'000'001u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.bytes().data()) % (2u << 20), 0u);
  EXPECT_TRUE(std::all_of(buffer.bytes().begin(), buffer.bytes().end(),
                          [](std::byte byte) { return byte == std::byte{0}; }));
  std::fill(buffer.bytes().begin(), buffer.bytes().end(), std::byte{7});
  LargeBuffer other(std::move(buffer));
  EXPECT_EQ(other.bytes().back(), std::byte{7});
  EXPECT_EQ(buffer.size(), 0u);
}

TEST(LargeBuffer, AnImpossibleSizeIsTheMachinesError) {
  EXPECT_THROW(LargeBuffer(SIZE_MAX), DeviceError);
  EXPECT_THROW(LargeBuffer(SIZE_MAX / 2), DeviceError);
  EXPECT_EQ(LargeBuffer(0).size(), 0u);
}

TEST(OsMemory, TheMachineHasMemoryAndThisProcessUsesSome) {
  const MemoryInfo info = memory_info();
  EXPECT_GT(info.total, uint64_t{64} << 20);
  EXPECT_LE(info.available, info.total);
  EXPECT_GT(resident_bytes(), uint64_t{1} << 20);
}

TEST(OsMemory, ResidentBytesGrowWithTouchedMemory) {
  const uint64_t before = resident_bytes();
  LargeBuffer buffer(size_t{64} << 20);
  std::fill(buffer.bytes().begin(), buffer.bytes().end(), std::byte{1});
  EXPECT_GE(resident_bytes(), before + (uint64_t{60} << 20));
}

TEST(OsMemory, TransparentHugePagesAreOneOfTheKnownStates) {
  EXPECT_THAT(huge_pages().transparent, testing::AnyOf("always", "madvise", "never", ""));
}

TEST(ZeroedMemory, IsZeroedAndAlignedAtEverySize) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{4} << 20, (size_t{9} << 20) + 5}) {
    const std::shared_ptr<std::byte> memory = zeroed_memory(size);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % 64, 0u);
    EXPECT_TRUE(std::all_of(memory.get(), memory.get() + size,
                            [](std::byte b) { return b == std::byte{0}; }));
    std::fill_n(memory.get(), size, std::byte{7});
  }
  EXPECT_EQ(zeroed_memory(SIZE_MAX / 2), nullptr);
}

}  // namespace
}  // namespace luminal::base
