#include "luminal/runtime/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace luminal::runtime {
namespace {

size_t aligned(size_t bytes) {
  return (bytes + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment;
}

// The end of the chain of requests that hold one stretch of memory, from `request` back.
int origin(const MemoryPlan& plan, int request) {
  while (plan.took[static_cast<size_t>(request)] >= 0) {
    request = plan.took[static_cast<size_t>(request)];
  }
  return request;
}

void check(const std::vector<BufferRequest>& requests, const MemoryPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), requests.size());
  size_t sum = 0;
  for (size_t i = 0; i < requests.size(); ++i) {
    sum += aligned(requests[i].bytes);
    EXPECT_EQ(plan.offsets[i] % kArenaAlignment, 0u);
    EXPECT_LE(plan.offsets[i] + requests[i].bytes, plan.peak);
    if (const int from = plan.took[i]; from >= 0) {
      const BufferRequest& taken = requests[static_cast<size_t>(from)];
      EXPECT_NE(std::find(requests[i].may_take.begin(), requests[i].may_take.end(), from),
                requests[i].may_take.end());
      EXPECT_EQ(taken.last, requests[i].first) << "taken over before its last read";
      EXPECT_LE(requests[i].bytes, aligned(taken.bytes));
      EXPECT_EQ(plan.offsets[i], plan.offsets[static_cast<size_t>(from)]);
    }
    for (size_t j = 0; j < i; ++j) {
      const BufferRequest &a = requests[i], &b = requests[j];
      if (a.first > b.last || b.first > a.last || a.bytes == 0 || b.bytes == 0) continue;
      if (plan.took[i] == static_cast<int>(j) || plan.took[j] == static_cast<int>(i)) continue;
      const bool apart = plan.offsets[i] + a.bytes <= plan.offsets[j] ||
                         plan.offsets[j] + b.bytes <= plan.offsets[i];
      EXPECT_TRUE(apart) << "requests " << i << " and " << j << " overlap";
    }
  }
  EXPECT_EQ(plan.unshared, sum);
  EXPECT_LE(plan.peak, sum);
  EXPECT_GE(plan.peak, plan.needed);
  // `needed`, counted step by step: each stretch once.
  for (const BufferRequest& at : requests) {
    std::vector<size_t> bytes(requests.size(), 0);
    for (size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].first > at.first || requests[i].last < at.first) continue;
      const int root = origin(plan, static_cast<int>(i));
      bytes[static_cast<size_t>(root)] = aligned(requests[static_cast<size_t>(root)].bytes);
    }
    size_t alive = 0;
    for (size_t b : bytes) alive += b;
    EXPECT_LE(alive, plan.needed);
  }
}

TEST(MemoryPlan, RandomPlansKeepLiveBuffersApart) {
  std::mt19937 random(7);
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int taken = 0, at_bound = 0;
  constexpr int kPlans = 2000;
  for (int round = 0; round < kPlans; ++round) {
    std::vector<BufferRequest> requests;
    const int count = 1 + below(40), steps = 1 + below(30);
    for (int i = 0; i < count; ++i) {
      BufferRequest request;
      request.bytes = below(8) == 0 ? 0 : static_cast<size_t>(1 + below(below(2) ? 200 : 5000));
      request.first = below(steps);
      request.last = request.first + below(steps - request.first);
      for (int j = 0; j < i; ++j) {
        if (below(3) == 0) request.may_take.push_back(j);
      }
      requests.push_back(request);
    }
    const MemoryPlan plan = plan_memory(requests);
    check(requests, plan);
    if (testing::Test::HasFailure()) FAIL() << "round " << round;
    taken += static_cast<int>(
        std::count_if(plan.took.begin(), plan.took.end(), [](int from) { return from >= 0; }));
    at_bound += plan.peak == plan.needed;
  }
  EXPECT_GT(taken, kPlans / 10);
  EXPECT_GT(at_bound, kPlans / 2) << "most random plans have an arena as small as can be";
}

TEST(MemoryPlan, AChainOfElementwiseStepsNeedsOneBuffer) {
  std::vector<BufferRequest> requests = {{.bytes = 4096, .first = 0, .last = 1}};
  for (int i = 1; i < 8; ++i) {
    requests.push_back({.bytes = 4096, .first = i, .last = i + 1, .may_take = {i - 1}});
  }
  EXPECT_EQ(plan_memory(requests).peak, 4096u);
  for (BufferRequest& request : requests) request.may_take.clear();
  EXPECT_EQ(plan_memory(requests).peak, 8192u) << "two alive at once";
  EXPECT_EQ(plan_memory(requests).unshared, 8u * 4096);
}

TEST(MemoryPlan, OneBufferIsTakenOverOnce) {
  const std::vector<BufferRequest> requests = {
      {.bytes = 64, .first = 0, .last = 1},
      {.bytes = 64, .first = 1, .last = 2, .may_take = {0}},
      {.bytes = 64, .first = 1, .last = 2, .may_take = {0}},
  };
  const MemoryPlan plan = plan_memory(requests);
  EXPECT_EQ(plan.took, (std::vector<int>{-1, 0, -1}));
  EXPECT_EQ(plan.peak, 128u);
}

TEST(MemoryPlan, SmallBuffersFillGaps) {
  const std::vector<BufferRequest> requests = {
      {.bytes = 1024, .first = 0, .last = 1},
      {.bytes = 640, .first = 2, .last = 3},
      {.bytes = 320, .first = 2, .last = 4},
      {.bytes = 64, .first = 2, .last = 2},
  };
  EXPECT_EQ(plan_memory(requests).peak, 1024u);
}

TEST(MemoryPlan, NothingIsFine) {
  EXPECT_EQ(plan_memory({}).peak, 0u);
  const std::vector<BufferRequest> empty = {{.bytes = 0, .first = 0, .last = 3}};
  EXPECT_EQ(plan_memory(empty).peak, 0u);
}

}  // namespace
}  // namespace luminal::runtime
