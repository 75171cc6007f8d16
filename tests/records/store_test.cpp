#include "luminal/records/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/records/samples.h"
#include "tests/support/user_error.h"

namespace luminal::records {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class StoreTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string file_ = folder_ / "below/records.sqlite";  // folders above it are made
};

TEST_F(StoreTest, WhatWasPutIsFoundAlsoByTheNextProcess) {
  {
    Store store = Store::open(file_);
    EXPECT_FALSE(store.find(kernel_key(1)));
    store.put(kernel_key(1), kernel_record(1e-3));
    EXPECT_EQ(store.find(kernel_key(1)), kernel_record(1e-3));
    store.put(plan_key(1), comparison("b"));
    store.put(plan_key(1), comparison("a"));
    store.put_plan(plan_key(1), std::string_view("plan\0bytes", 10));
    store.put(device("a processor"));
  }
  for (const Mode mode : {Mode::ReadWrite, Mode::ReadOnly}) {
    const Store store = Store::open(file_, mode);
    EXPECT_EQ(store.find(kernel_key(1)), kernel_record(1e-3));
    EXPECT_EQ(store.find(kernel_key(1)), kernel_record(1e-3)) << "from memory";
    EXPECT_FALSE(store.find(kernel_key(2)));
    EXPECT_FALSE(store.find(kernel_key(1, "another device")));
    EXPECT_EQ(store.plan(plan_key(1)), std::string("plan\0bytes", 10));
    EXPECT_FALSE(store.plan(plan_key(2)));
    std::vector<Comparison> expected{comparison("a"), comparison("b")};
    std::sort(expected.begin(), expected.end(),
              [](const auto& a, const auto& b) { return a.challenger < b.challenger; });
    EXPECT_EQ(store.comparisons(plan_key(1)), expected);
    EXPECT_TRUE(store.comparisons(plan_key(2)).empty());
    EXPECT_EQ(store.refused(), 0);
  }
}

TEST_F(StoreTest, EveryBitOfANumberComesBack) {
  Store store = Store::open(file_);
  for (const double seconds : {0.1, 1.0 / 3, 4.9e-324, 1e-9, 1.7e308}) {
    const KernelKey key = kernel_key(static_cast<int>(std::ilogb(seconds)));
    KernelRecord record{seconds, seconds, seconds, 2147483647, false, ""};
    store.put(key, record);
    EXPECT_EQ(Store::open(file_).find(key), record) << seconds;
  }
}

TEST_F(StoreTest, KeysMayHoldAnyBytes) {
  const std::string any[] = {std::string("a\0b", 3),
                             std::string("a\0c", 3),
                             "a",
                             "",
                             "'; DROP TABLE kernels; --",
                             "\xff\xfe not UTF-8",
                             "?1 :name @name $name",
                             std::string(1'000'000, 'x'),
                             std::string(1'000'000, 'x') + "y",
                             "\u2028 and \"quotes\" and \\ and \n"};
  double seconds = 0;
  {
    Store store = Store::open(file_);
    for (const std::string& text : any) {
      store.put({text, "device", "compiler"}, kernel_record(seconds += 1e-3));
      if (text.size() > kMostNoteBytes) continue;
      store.put({"kernel", text, "a compiler"}, kernel_record(seconds += 1e-3));
      store.put({"kernel", "a device", text}, kernel_record(seconds += 1e-3));
    }
  }
  const Store store = Store::open(file_, Mode::ReadOnly);
  seconds = 0;
  for (const std::string& text : any) {
    EXPECT_EQ(store.find({text, "device", "compiler"}), kernel_record(seconds += 1e-3));
    if (text.size() > kMostNoteBytes) continue;
    EXPECT_EQ(store.find({"kernel", text, "a compiler"}), kernel_record(seconds += 1e-3));
    EXPECT_EQ(store.find({"kernel", "a device", text}), kernel_record(seconds += 1e-3));
  }
  EXPECT_EQ(store.stats().damaged, 0);
  EXPECT_EQ(store.refused(), 0);
}

TEST_F(StoreTest, TheBetterMeasuredRecordStaysWhoeverWritesLast) {
  Store store = Store::open(file_);
  store.put(kernel_key(1), kernel_record(1e-3, 10));
  store.put(kernel_key(1), kernel_record(2e-3, 9));
  EXPECT_EQ(store.find(kernel_key(1)), kernel_record(1e-3, 10));
  store.put(kernel_key(1), kernel_record(3e-3, 11));
  EXPECT_EQ(store.find(kernel_key(1)), kernel_record(3e-3, 11));
  store.put(plan_key(1), comparison("b", 1.5, 7));
  store.put(plan_key(1), comparison("b", 1.2, 6));
  EXPECT_EQ(store.comparisons(plan_key(1)), std::vector{comparison("b", 1.5, 7)});
  store.put(plan_key(1), comparison("b", 1.3, 8));
  EXPECT_EQ(store.comparisons(plan_key(1)), std::vector{comparison("b", 1.3, 8)});
  store.put_plan(plan_key(1), "first");
  store.put_plan(plan_key(1), "second");
  store.put_plan(plan_key(1), "a third, smaller than others");
  EXPECT_EQ(store.plan(plan_key(1)), "a third, smaller than others");
}

TEST_F(StoreTest, StoresOfOneFileSeeWhatTheOthersWrite) {
  Store one = Store::open(file_), other = Store::open(file_);
  const Store reader = Store::open(file_, Mode::ReadOnly);
  one.put(kernel_key(1), kernel_record(1e-3, 10));
  EXPECT_EQ(other.find(kernel_key(1)), kernel_record(1e-3, 10));
  EXPECT_EQ(reader.find(kernel_key(1)), kernel_record(1e-3, 10));
  other.put(kernel_key(1), kernel_record(2e-3, 20));
  for (const Store* store : std::initializer_list<const Store*>{&one, &other, &reader}) {
    EXPECT_EQ(store->find(kernel_key(1)), kernel_record(2e-3, 20));
  }
}

TEST_F(StoreTest, ReadingOnlyChangesNothingAndNeedsAFile) {
  EXPECT_THAT(tests::user_error([&] { Store::open(file_, Mode::ReadOnly); }),
              HasSubstr("nothing has been recorded"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "below"));
  Store::open(file_).put(kernel_key(1), kernel_record(1e-3));
  Store store = Store::open(file_, Mode::ReadOnly);
  const auto refused = [&](const auto& work) {
    EXPECT_THAT(tests::user_error(work), HasSubstr("opened for reading only"));
  };
  refused([&] { store.put(kernel_key(2), kernel_record(1e-3)); });
  refused([&] { store.put(plan_key(1), comparison("b")); });
  refused([&] { store.put_plan(plan_key(1), "plan"); });
  refused([&] { store.prune({}); });
  refused([&] { import_text(store, "{\"luminal_records\": 1}\n"); });
  refused([&] { store.merge_from(file_); });
}

TEST_F(StoreTest, ARecordThatNobodyWouldTrustIsNotWritten) {
  Store store = Store::open(file_);
  EXPECT_THROW(store.put(kernel_key(1), kernel_record(-1)), InternalError);
  EXPECT_THROW(store.put(plan_key(1), comparison("b", 0)), InternalError);
  EXPECT_THROW(store.put(Device{"0123", "a processor"}), InternalError);
  EXPECT_EQ(store.stats().kernels, 0);
  store.put(kernel_key(1), kernel_record(1e-3));  // and the store goes on
  EXPECT_EQ(store.stats().kernels, 1);
}

// In whatever order they come, from searches and from other files.
TEST_F(StoreTest, TheNewestPeaksOfADeviceStay) {
  Device old = device("a processor"), fresh = old;
  old.peaks = R"({"measured": "2026-11-17", "reads": 9})";
  fresh.peaks = R"({"measured": "2026-11-18", "reads": 1})";
  for (const std::vector<Device>& order : {std::vector{old, fresh}, std::vector{fresh, old}}) {
    std::filesystem::remove(file_);
    Store store = Store::open(file_);
    for (const Device& each : order) store.put(each);
    store.put(device("a processor"));  // a compile that knows of none
    EXPECT_THAT(exported(store), HasSubstr("2026-11-18"));
    EXPECT_THAT(exported(store), Not(HasSubstr("2026-11-17")));
  }
}

TEST_F(StoreTest, TextsBeyondTheLimitAreAnErrorOfTheCaller) {
  Store store = Store::open(file_);
  const std::string huge(kMostTextBytes + 1, 'x');
  EXPECT_THAT(tests::user_error([&] { store.put({huge, "d", "c"}, kernel_record(1)); }),
              HasSubstr("the kernel's text has 67108865 bytes"));
  EXPECT_THAT(tests::user_error([&] { store.put_plan(plan_key(1), huge); }), HasSubstr("the plan"));
  EXPECT_THAT(tests::user_error([&] { store.put_plan({huge, "d", "c"}, "plan"); }),
              HasSubstr("the question"));
  EXPECT_FALSE(store.find({huge, "d", "c"}));
}

TEST_F(StoreTest, StatsSayWhatThereIsByDeviceAndCompiler) {
  Store store = Store::open(file_);
  const Device here = device("a processor");
  store.put(here);
  for (int i = 0; i < 5; ++i) store.put(kernel_key(i, here.fingerprint), kernel_record(1e-3));
  store.put(kernel_key(9, "unknown"), kernel_record(1e-3));
  store.put(plan_key(1), comparison("b"));
  store.put_plan(plan_key(1), "plan");
  const Stats stats = store.stats();
  EXPECT_EQ(stats.version, kSchemaVersion);
  EXPECT_GT(stats.bytes, 4096u);
  EXPECT_EQ(stats.kernels, 6);
  EXPECT_EQ(stats.plans, 1);
  EXPECT_EQ(stats.comparisons, 1);
  EXPECT_EQ(stats.damaged, 0);
  ASSERT_EQ(stats.devices.size(), 3u);
  const auto of_here = std::find_if(stats.devices.begin(), stats.devices.end(),
                                    [&](const auto& of) { return of.name == here.fingerprint; });
  ASSERT_NE(of_here, stats.devices.end());
  EXPECT_EQ(of_here->kernels, 5);
  EXPECT_EQ(of_here->description, "a processor");
  ASSERT_EQ(stats.compilers.size(), 1u);
  EXPECT_EQ(stats.compilers[0].plans, 1);
}

TEST_F(StoreTest, TheFolderIsPrivateWhateverTheUmask) {
  const mode_t before = umask(0);
  Store::open(file_);
  umask(before);
  struct stat status = {};
  ASSERT_EQ(stat((folder_ / "below").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  EXPECT_NO_THROW(Store::open(file_));
}

TEST_F(StoreTest, WhatOthersCouldHaveWrittenIsNotUsed) {
  Store::open(file_);
  const std::string folder = folder_ / "below";
  const auto error = [&](Mode mode) {
    return tests::user_error([&] { Store::open(file_, mode); });
  };
  ASSERT_EQ(chmod(folder.c_str(), 0777), 0);
  EXPECT_THAT(error(Mode::ReadOnly), HasSubstr("other users may write to it"));
  ASSERT_EQ(chmod(folder.c_str(), 01777), 0);  // as /tmp: nobody replaces another's file
  EXPECT_NO_THROW(Store::open(file_));
  ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
  ASSERT_EQ(chmod(file_.c_str(), 0666), 0);
  EXPECT_THAT(error(Mode::ReadWrite), HasSubstr("other users may write to it"));
  ASSERT_EQ(chmod(file_.c_str(), 0600), 0);
  EXPECT_NO_THROW(Store::open(file_));
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(file_.c_str(), 65534, 65534), 0);
  EXPECT_THAT(error(Mode::ReadWrite), HasSubstr("it belongs to another user"));
}

TEST_F(StoreTest, AStoreThatWasMovedGoesOn) {
  Store store = Store::open(file_);
  Store moved = std::move(store);
  moved.put(kernel_key(1), kernel_record(1e-3));
  store = std::move(moved);
  EXPECT_TRUE(store.find(kernel_key(1)));
  EXPECT_EQ(store.file(), file_);
}

}  // namespace
}  // namespace luminal::records
