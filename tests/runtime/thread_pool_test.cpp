// The pool of threads: every share once, whoever calls, however many helpers come.
#include "luminal/runtime/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "luminal/base/os/limits.h"

namespace luminal::runtime {
namespace {

constexpr double kWorthWaking = 1e6;

void expect_each_share_once(int shares, double us = kWorthWaking) {
  std::vector<std::atomic<int>> calls(static_cast<size_t>(shares));
  run_shares(shares, us, [&](int share) { ++calls[static_cast<size_t>(share)]; });
  for (int share = 0; share < shares; ++share) {
    EXPECT_EQ(calls[static_cast<size_t>(share)], 1) << share << " of " << shares;
  }
}

TEST(ThreadPool, RunsEachShareOnce) {
  for (int shares : {0, 1, 2, 3, 15, 16, 17, 300, 4097}) expect_each_share_once(shares);
  for (double us : {0.0, 1.0, 1e9}) expect_each_share_once(3, us);
}

TEST(ThreadPool, WhatSharesWroteIsSeenAfterwards) {
  std::vector<int> values(64);
  for (int round = 0; round < 20'000; ++round) {
    run_shares(2, kWorthWaking, [&](int share) {
      for (size_t i = 0; i < 32; ++i) values[static_cast<size_t>(share) * 32 + i] = round;
    });
    for (int value : values) ASSERT_EQ(value, round);
  }
}

TEST(ThreadPool, HasNoMoreThreadsThanThisProcessMayUse) {
  expect_each_share_once(1000);
  EXPECT_LT(helper_threads(), static_cast<int>(base::usable_threads()));
}

TEST(ThreadPool, ManyThreadsMayCallAtOnce) {
  std::atomic<int64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 24; ++caller) {  // more than the pool has places for
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        run_shares(4, kWorthWaking, [&](int share) { sum += share; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, int64_t{24} * 500 * 6);
}

TEST(ThreadPool, SharesMayHaveSharesOfTheirOwn) {
  std::atomic<int> calls = 0;
  run_shares(4, kWorthWaking, [&](int) {
    run_shares(4, kWorthWaking, [&](int) { run_shares(2, kWorthWaking, [&](int) { ++calls; }); });
  });
  EXPECT_EQ(calls, 32);
}

TEST(ThreadPool, ACallerWaitsForAHelperThatIsSlow) {
  std::atomic<bool> ended = false;
  const std::thread::id caller = std::this_thread::get_id();
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> running = 0;
    run_shares(2, kWorthWaking, [&](int share) {
      ++running;
      const auto wait = std::chrono::milliseconds(share == 0 ? 1 : 3);
      std::this_thread::sleep_for(wait);
      if (std::this_thread::get_id() != caller) ended = true;
      --running;
    });
    ASSERT_EQ(running, 0);
  }
  if (base::usable_threads() > 1) {
    EXPECT_TRUE(ended) << "no helper ever came";
  }
}

TEST(ThreadPool, PinnedHelpersComputeTheSame) {
  const unsigned before = base::affinity_threads();
  pin_helpers();
  for (int round = 0; round < 100; ++round) expect_each_share_once(8);
  EXPECT_EQ(base::affinity_threads(), before) << "callers stay as they are";
}

TEST(ThreadPool, AChildAfterForkComputesAlone) {
  expect_each_share_once(8);
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<int> calls = 0;
    run_shares(8, kWorthWaking, [&](int) { ++calls; });
    _exit(calls == 8 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace luminal::runtime
