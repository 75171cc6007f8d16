#include "luminal/base/files/seal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

#include "luminal/base/os/paths.h"

namespace luminal::base {
namespace {

using testing::HasSubstr;

// From the vectors that the authors of SipHash publish for 128 bits: key 00 01 …, input 00 01 ….
TEST(Seal, IsSipHash) {
  Secret key;
  std::iota(key.begin(), key.end(), uint8_t{0});
  EXPECT_EQ(seal(key, ""), "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(seal(key, std::string_view("\0", 1)), "da87c1d86b99af44347659119b22fc45");
  EXPECT_NE(seal(key, "12345678"), seal(key, "12345679"));
  EXPECT_NE(seal(key, "12345678"), seal(key, std::string_view("12345678\0", 9)));
}

TEST(Secret, StaysTheSameAndIsReadableByItsOwnerAlone) {
  const TemporaryFolder folder;
  const Result<Secret> first = secret_of(folder.path());
  ASSERT_TRUE(first) << first.why();
  EXPECT_EQ(*secret_of(folder.path()), *first);
  using std::filesystem::perms;
  const perms given = std::filesystem::status(folder.path() / "secret").permissions();
  EXPECT_EQ(given, perms::owner_read | perms::owner_write);
  const TemporaryFolder other;
  EXPECT_NE(*secret_of(other.path()), *first);
}

TEST(Secret, OfManyThreadsAtOnceIsOne) {
  const TemporaryFolder folder;
  std::vector<std::optional<Secret>> found(8);
  std::vector<std::thread> threads;
  for (auto& one : found) {
    threads.emplace_back([&] {
      if (const Result<Secret> secret = secret_of(folder.path())) one = *secret;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : found) EXPECT_EQ(one, found.front());
  EXPECT_TRUE(found.front());
}

TEST(Secret, OthersFilesAndFoldersAreRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "secret";
  std::ofstream(file) << "0123456789abcdef";
  std::filesystem::permissions(file, static_cast<std::filesystem::perms>(0644));
  EXPECT_THAT(secret_of(folder.path()).why(), HasSubstr("others can read"));
  std::filesystem::permissions(file, static_cast<std::filesystem::perms>(0600));
  EXPECT_TRUE(secret_of(folder.path()));
  std::ofstream(file) << "short";
  EXPECT_THAT(secret_of(folder.path()).why(), HasSubstr("remove it"));
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  EXPECT_FALSE(secret_of(folder.path()));
  std::filesystem::permissions(folder.path(), static_cast<std::filesystem::perms>(0777));
  EXPECT_THAT(secret_of(folder.path()).why(), HasSubstr("other users may write"));
}

}  // namespace
}  // namespace luminal::base
