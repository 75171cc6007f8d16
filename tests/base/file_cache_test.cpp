#include "luminal/base/files/file_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "luminal/base/digest.h"
#include "luminal/base/os/own_file.h"
#include "luminal/base/os/paths.h"
#include "luminal/base/text/printable.h"

namespace luminal::base {
namespace {

std::string key(char digit) { return std::string(64, digit); }

// A folder of its own, removed at the end.
class FileCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::temp_directory_path() / ("luminal_file_cache_" + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path file(char digit) const { return folder_ / (key(digit) + ".plan"); }
  std::string bytes_of(const std::filesystem::path& path) const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  void write(const std::filesystem::path& path, std::string_view bytes) const {
    std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
  }

  std::filesystem::path folder_;
};

TEST_F(FileCacheTest, KindsAndKeysAreKeptApart) {
  FileCache kernels(folder_, kCachedKernels), plans(folder_, kCachedPlans);
  kernels.store(key('a'), "code");
  EXPECT_FALSE(plans.find(key('a')).has_value());
  EXPECT_EQ(kernels.find(key('a')), "code");
  EXPECT_FALSE(kernels.find(key('b')).has_value());
  plans.store(key('a'), "");
  EXPECT_EQ(plans.find(key('a')), "");
  const auto stats = cache_stats(folder_);
  ASSERT_EQ(stats.size(), std::size(kCacheKinds));
  EXPECT_EQ(stats[0].entries, 1);
  EXPECT_EQ(stats[1].entries, 0);
  EXPECT_EQ(stats[2].entries, 1);
}

TEST_F(FileCacheTest, EveryFlippedBitAndEveryTruncationIsSeen) {
  FileCache(folder_, kCachedPlans).store(key('a'), "a small entry");
  const std::string whole = bytes_of(file('a'));
  FileCache cache(folder_, kCachedPlans);
  int64_t damages = 0;
  auto expect_damage = [&](const std::string& bytes, size_t where) {
    write(file('a'), bytes);
    EXPECT_FALSE(cache.find(key('a')).has_value()) << where;
    EXPECT_EQ(cache.counters().damaged, ++damages) << where;
  };
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      expect_damage(damaged, at);
    }
    expect_damage(whole.substr(0, at), at);
  }
  expect_damage(whole + "x", whole.size());
  write(file('a'), whole);
  EXPECT_EQ(cache.find(key('a')), "a small entry");
  ASSERT_EQ(cache.notes().size(), 1u);
  EXPECT_NE(cache.notes()[0].find("plans in"), std::string::npos) << cache.notes()[0];
}

TEST_F(FileCacheTest, AFileUnderAnotherNameIsAnotherEntry) {
  FileCache cache(folder_, kCachedPlans);
  cache.store(key('a'), "content");
  std::filesystem::copy_file(file('a'), file('b'));
  EXPECT_FALSE(cache.find(key('b')).has_value());
}

TEST_F(FileCacheTest, WhatWasUsedLeastRecentlyGoesWhenTheFolderIsFull) {
  {
    FileCache cache(folder_, kCachedPlans);
    for (char digit : {'a', 'b', 'c', 'd'}) cache.store(key(digit), std::string(1000, 'x'));
  }
  auto age = [&](char digit, int hours) {
    std::filesystem::last_write_time(
        file(digit), std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  age('a', 4);
  age('b', 3);
  age('c', 2);
  age('d', 1);
  {
    FileCache plans(folder_, kCachedPlans);
    EXPECT_TRUE(plans.find(key('a')).has_value()) << "now it is the newest";
    FileCache kernels(folder_, kCachedKernels, 3500);
    kernels.store(key('e'), std::string(1000, 'y'));  // of whatever kind, it takes from all
  }
  FileCache cache(folder_, kCachedPlans);
  EXPECT_FALSE(cache.find(key('b')).has_value());
  EXPECT_FALSE(cache.find(key('c')).has_value());
  for (char digit : {'a', 'd'}) EXPECT_TRUE(cache.find(key(digit)).has_value()) << digit;
  EXPECT_TRUE(FileCache(folder_, kCachedKernels).find(key('e')).has_value());
  write(folder_ / "main.o", "mine");
  int64_t removed = 0;
  for (const CacheStats& stats : trim_cache(folder_, 0)) removed += stats.entries;
  EXPECT_EQ(removed, 3);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "main.o"));
}

TEST_F(FileCacheTest, ManyMayWriteAndReadTheSameEntryAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      FileCache cache(folder_, kCachedPlans);
      for (int i = 0; i < 50; ++i) {
        cache.store(key('a'), std::string(5000, static_cast<char>('a' + t)));
        const auto found = cache.find(key('a'));
        const bool whole = found && *found == std::string(5000, found->front());
        if (!whole) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache_stats(folder_)[2].entries, 1);
}

TEST_F(FileCacheTest, AnEntryThatOthersCouldHaveWrittenIsNotUsed) {
  FileCache(folder_, kCachedPlans).store(key('a'), "content");
  FileCache cache(folder_, kCachedPlans);
  EXPECT_TRUE(cache.find(key('a')));
  ASSERT_EQ(chmod(file('a').c_str(), 0662), 0);
  EXPECT_FALSE(cache.find(key('a')));
  ASSERT_EQ(chmod(file('a').c_str(), 0600), 0);
  EXPECT_TRUE(cache.find(key('a')));
  int64_t refused = 1;
  if (geteuid() == 0) {  // planted by another user before the folder was made private
    ASSERT_EQ(chown(file('a').c_str(), 65534, 65534), 0);
    EXPECT_FALSE(cache.find(key('a')));
    ++refused;
  }
  EXPECT_EQ(cache.counters().not_own, refused);
  ASSERT_EQ(cache.notes().size(), 1u);
  EXPECT_NE(cache.notes()[0].find("empty the folder"), std::string::npos) << cache.notes()[0];
  cache.store(key('a'), "content");  // in its place
  EXPECT_EQ(cache.find(key('a')), "content");
}

TEST_F(FileCacheTest, EntriesArePrivateWhateverTheUmask) {
  const mode_t before = umask(0);
  {
    FileCache cache(folder_ / "inside", kCachedPlans);
    cache.store(key('a'), "content");
    EXPECT_EQ(cache.find(key('a')), "content");
    EXPECT_TRUE(cache.notes().empty());
  }
  umask(before);
  EXPECT_EQ(why_not_private(folder_), "");
  EXPECT_EQ(why_not_private(folder_ / "inside"), "");
}

TEST_F(FileCacheTest, WithoutASecretNothingIsKeptAndTheNoteSaysWhy) {
  std::filesystem::create_directories(folder_);
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  write(folder_ / "secret", "short");
  std::filesystem::permissions(folder_ / "secret", std::filesystem::perms::owner_read);
  FileCache cache(folder_, kCachedPlans);
  cache.store(key('a'), "content");
  EXPECT_FALSE(cache.find(key('a')));
  ASSERT_EQ(cache.notes().size(), 1u);
  EXPECT_NE(cache.notes()[0].find("it isn't 16 bytes long; remove it"), std::string::npos)
      << cache.notes()[0];
}

TEST_F(FileCacheTest, WhatIsNoPlainFileIsNoEntry) {
  FileCache cache(folder_, kCachedPlans);
  cache.store(key('f'), "content");
  std::filesystem::create_directory(file('a'));
  ASSERT_EQ(mkfifo(file('b').c_str(), 0600), 0);  // opening it to read would wait for a writer
  std::filesystem::create_symlink(file('f'), file('c'));
  write(file('d'), "");
  std::filesystem::resize_file(file('d'), uint64_t{1} << 40);  // takes no room on the disk
  for (char digit : {'a', 'b', 'c', 'd'}) EXPECT_FALSE(cache.find(key(digit))) << digit;
  EXPECT_EQ(cache.counters().not_own, 3);
  EXPECT_EQ(cache.counters().damaged, 1);
}

TEST(Printable, EscapesWhatMovesATerminal) {
  EXPECT_EQ(printable("a\x1b[2Jb\tc\n\x7f"), "a\\x1b[2Jb\tc\\x0a\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m é"),
            "\\x9b"
            "31m é");
  EXPECT_EQ(printable("éé", 1), "é…");
  EXPECT_EQ(printable("abc\nde\nfghi", 2, true), "ab…\nde\nfg…");
}

TEST(Digest, TellsBytesApart) {
  EXPECT_EQ(digest("").size(), 64u);
  EXPECT_TRUE(FileCache::is_key(digest("abc")));
  EXPECT_EQ(digest("abc"), digest("abc"));
  EXPECT_NE(digest("abc"), digest("abd"));
  EXPECT_NE(digest("abc"), digest(std::string_view("abc\0", 4)));
  EXPECT_NE(digest(""), digest(std::string_view("\0", 1)));
  // The same on every machine and in every build: files are found by it.
  EXPECT_EQ(digest("luminal"), "e294bd643bd79e07d7c579cdbb39844f2244a9316aebb72f1db5d2d352a338c9");
}

}  // namespace
}  // namespace luminal::base
