#include "luminal/records/prune.h"

#include <gtest/gtest.h>

#include "tests/records/samples.h"

namespace luminal::records {
namespace {

class PruneTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 100; ++i) store_.put(kernel_key(i), kernel_record(1e-3));
    for (int i = 0; i < 10; ++i) {
      store_.put(plan_key(i), comparison("b"));
      store_.put_plan(plan_key(i), std::string(5000, static_cast<char>('a' + i)));
    }
  }
  // Days ago, for the kernels whose number is below `end`.
  void age(int end, int days) {
    for (int i = 0; i < end; ++i) {
      run_sql(file_, "UPDATE kernels SET used = used - " + std::to_string(days * 86'400) +
                         " WHERE kernel = '" + base::digest(kernel_key(i).kernel) + "'");
    }
  }

  TemporaryFolder folder_;
  std::string file_ = folder_ / "records.sqlite";
  Store store_ = Store::open(file_);
};

TEST_F(PruneTest, NothingAskedForNothingGone) {
  const std::string before = exported(store_);
  const PruneResult result = store_.prune({});
  EXPECT_EQ(result.kernels + result.plans + result.comparisons + result.damaged, 0);
  EXPECT_EQ(exported(store_), before);
}

TEST_F(PruneTest, WhatWasNotUsedForLongGoesAndUseCounts) {
  age(30, 40);
  EXPECT_TRUE(Store::open(file_).find(kernel_key(0))) << "now it is used";
  const PruneResult result = store_.prune({.unused_seconds = 30 * 86'400});
  EXPECT_EQ(result.kernels, 29);
  EXPECT_EQ(result.plans, 0);
  EXPECT_TRUE(store_.find(kernel_key(0)));
  EXPECT_FALSE(store_.find(kernel_key(1)));
  EXPECT_TRUE(store_.find(kernel_key(30)));
}

TEST_F(PruneTest, OtherDevicesAndCompilersGoWithTheirTexts) {
  const Device other = device("another processor");
  store_.put(other);
  store_.put(kernel_key(1000, other.fingerprint), kernel_record(1e-3));
  store_.put({"k", "this device", "compiler 2"}, kernel_record(1e-3));
  PruneResult result = store_.prune(
      {.keep_device = [](const Device& of) { return of.description != "another processor"; }});
  EXPECT_EQ(result.kernels, 1);
  EXPECT_EQ(store_.stats().devices.size(), 1u);
  result =
      store_.prune({.keep_compiler = [](const std::string& of) { return of == "compiler 2"; }});
  EXPECT_EQ(result.kernels, 100);
  EXPECT_EQ(result.plans, 10);
  EXPECT_EQ(result.comparisons, 10);
  EXPECT_EQ(store_.stats().kernels, 1);
  EXPECT_EQ(run_sql(file_, "SELECT count(*) FROM texts"), "3");
}

TEST_F(PruneTest, ToASizeTheLeastRecentlyUsedGo) {
  const uint64_t before = std::filesystem::file_size(file_);
  age(50, 10);
  const PruneResult result = store_.prune({.most_bytes = 80'000});
  EXPECT_LE(std::filesystem::file_size(file_), 80'000u);
  EXPECT_LE(result.bytes_after, 80'000u);
  EXPECT_GE(result.bytes_before, before);
  EXPECT_GT(result.kernels, 0);
  const Stats stats = store_.stats();
  EXPECT_EQ(stats.damaged, 0);
  EXPECT_GT(stats.kernels, 0);
  int old_left = 0, new_left = 0;
  for (int i = 0; i < 100; ++i)
    (i < 50 ? old_left : new_left) += store_.find(kernel_key(i)) ? 1 : 0;
  EXPECT_TRUE(old_left == 0 || (new_left == 50 && stats.plans == 10))
      << old_left << " " << new_left;
  const PruneResult all = store_.prune({.most_bytes = 0});
  EXPECT_EQ(all.kernels, stats.kernels);
  EXPECT_EQ(store_.stats().kernels + store_.stats().plans + store_.stats().comparisons, 0);
  store_.put(kernel_key(1), kernel_record(1e-3));
  EXPECT_TRUE(store_.find(kernel_key(1)));
}

TEST_F(PruneTest, ADryRunSaysTheSameAndDoesNothing) {
  age(50, 10);
  const std::string before = exported(store_);
  const PruneOptions options{.unused_seconds = 5 * 86'400, .most_bytes = 80'000};
  PruneOptions dry = options;
  dry.dry_run = true;
  const PruneResult told = store_.prune(dry);
  EXPECT_EQ(exported(store_), before);
  const PruneResult done = store_.prune(options);
  EXPECT_EQ(told.kernels, done.kernels);
  EXPECT_EQ(told.plans, done.plans);
  EXPECT_EQ(told.comparisons, done.comparisons);
  EXPECT_GE(told.kernels, 50);
}

TEST_F(PruneTest, DamagedRowsGoAlways) {
  run_sql(file_, "UPDATE kernels SET seconds = 7 WHERE kernel = (SELECT min(kernel) FROM kernels)");
  run_sql(file_, "UPDATE plans SET rank = 7 WHERE question = (SELECT min(question) FROM plans)");
  run_sql(file_,
          "UPDATE comparisons SET rounds = 9 WHERE question = (SELECT max(question) FROM "
          "comparisons)");
  EXPECT_EQ(store_.stats().damaged, 3);
  const PruneResult result = store_.prune({});
  EXPECT_EQ(result.damaged, 3);
  EXPECT_EQ(result.kernels + result.plans + result.comparisons, 0);
  const Stats stats = store_.stats();
  EXPECT_EQ(stats.damaged, 0);
  EXPECT_EQ(stats.kernels, 99);
  EXPECT_EQ(stats.plans, 9);
  EXPECT_EQ(stats.comparisons, 9);
}

}  // namespace
}  // namespace luminal::records
