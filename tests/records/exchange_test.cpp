// Merging, export and import.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/records/lines.h"
#include "tests/records/samples.h"
#include "tests/support/random_source.h"
#include "tests/support/user_error.h"

namespace luminal::records {
namespace {

using ::testing::HasSubstr;

class ExchangeTest : public ::testing::Test {
 protected:
  // Records of every kind, many of them under keys that other seeds use too.
  Store filled(const std::string& name, uint64_t seed) {
    Store store = Store::open(folder_ / name);
    tests::RandomSource random(seed);
    for (int i = 0; i < 60; ++i) {
      KernelRecord record =
          kernel_record(1e-3 * random.between(1, 3), static_cast<int>(random.between(1, 3)));
      record.checked = random.chance(0.5);
      record.note = std::to_string(random.below(2));
      store.put(kernel_key(static_cast<int>(random.below(20))), record);
      const PlanKey question = plan_key(static_cast<int>(random.below(4)));
      store.put(question, comparison(std::to_string(random.below(5)),
                                     static_cast<double>(random.between(1, 3)),
                                     static_cast<int>(random.between(1, 3))));
      if (random.chance(0.3)) store.put_plan(question, std::to_string(random.below(6)));
    }
    store.put(device("processor " + std::to_string(seed)));
    return store;
  }

  TemporaryFolder folder_;
};

TEST_F(ExchangeTest, InWhichOrderFilesAreMergedMakesNoDifference) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const std::string id = std::to_string(seed);
    filled("a" + id, 3 * seed);
    filled("b" + id, 3 * seed + 1);
    filled("c" + id, 3 * seed + 2);
    std::string expected;
    for (const std::string order : {"abc", "acb", "bac", "bca", "cab", "cba", "aabbcc", "cabcab"}) {
      Store merged = Store::open(folder_ / (order + id));
      for (const char name : order) {
        EXPECT_EQ(merged.merge_from(folder_ / (name + id)).refused, 0);
      }
      if (expected.empty()) expected = exported(merged);
      EXPECT_EQ(exported(merged), expected) << order;
    }
    EXPECT_GT(expected.size(), 10'000u);
  }
}

TEST_F(ExchangeTest, AnImportOfAnExportIsAMerge) {
  const Store a = filled("a", 1), b = filled("b", 2);
  Store merged = Store::open(folder_ / "merged"), imported = Store::open(folder_ / "imported");
  merged.merge_from(folder_ / "a");
  merged.merge_from(folder_ / "b");
  import_text(imported, exported(b));
  const MergeResult result = import_text(imported, exported(a));
  EXPECT_EQ(exported(imported), exported(merged));
  EXPECT_EQ(result.refused, 0);
  EXPECT_EQ(result.kernels.added + result.kernels.replaced + result.kernels.kept,
            a.stats().kernels);
  EXPECT_GT(result.kernels.kept, 0);
  EXPECT_GT(result.kernels.replaced, 0);
  const MergeResult again = import_text(imported, exported(a));
  EXPECT_EQ(again.kernels.added + again.kernels.replaced, 0);
  EXPECT_EQ(again.plans.added + again.plans.replaced, 0);
  EXPECT_EQ(again.comparisons.added + again.comparisons.replaced, 0);
  EXPECT_EQ(again.devices.added, 0);
}

TEST_F(ExchangeTest, AnImportGoesOnAfterABadLineAndSaysWhichItWas) {
  Store store = Store::open(folder_ / "records");
  std::string text = header_line() + "\n";
  for (int i = 0; i < 1000; ++i) {
    if (i % 10 == 3) text += "nonsense\n";
    text += line_of(KernelEntry{kernel_key(i), kernel_record(1e-3)}) + "\n";
  }
  text += "the last line has no end";
  const MergeResult result = import_text(store, text);
  EXPECT_EQ(result.kernels.added, 1000);
  EXPECT_EQ(result.refused, 101);
  ASSERT_EQ(result.refusals.size(), kMostRefusals);
  EXPECT_EQ(result.refusals[0].what, "line 5");
  EXPECT_EQ(result.refusals[0].why, "it isn't JSON");
  EXPECT_EQ(store.stats().kernels, 1000);
}

TEST_F(ExchangeTest, WhatIsMergedIsCheckedRowByRow) {
  filled("a", 1);
  const Stats before = Store::open(folder_ / "a").stats();
  run_sql(folder_ / "a",
          "UPDATE kernels SET seconds = seconds * 1.001 WHERE kernel = (SELECT min(kernel) FROM "
          "kernels)");
  Store merged = Store::open(folder_ / "merged");
  const MergeResult result = merged.merge_from(folder_ / "a");
  EXPECT_EQ(result.refused, 1);
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_THAT(result.refusals[0].what, HasSubstr("kernel "));
  EXPECT_THAT(result.refusals[0].why, HasSubstr("its checksum doesn't match"));
  EXPECT_EQ(result.kernels.added, before.kernels - 1);
  EXPECT_EQ(merged.stats().damaged, 0);
}

TEST_F(ExchangeTest, AFileIsNotMergedIntoItself) {
  Store store = filled("a", 1);
  std::filesystem::create_symlink(folder_ / "a", folder_ / "link");
  EXPECT_THAT(tests::user_error([&] { store.merge_from(folder_ / "link"); }),
              HasSubstr("into itself"));
  EXPECT_THAT(tests::user_error([&] { store.merge_from(folder_ / "absent"); }),
              HasSubstr("isn't there"));
}

TEST_F(ExchangeTest, AClockOfTheFutureIsNotBelieved) {
  filled("a", 1);
  run_sql(folder_ / "a", "UPDATE kernels SET used = 9000000000000000000");
  Store::open(folder_ / "merged").merge_from(folder_ / "a");
  EXPECT_LT(std::stoll(run_sql(folder_ / "merged", "SELECT max(used) FROM kernels")),
            9'000'000'000'000);
}

}  // namespace
}  // namespace luminal::records
