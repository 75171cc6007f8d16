#include "luminal/runtime/step_order.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace luminal::runtime {
namespace {

TEST(StepOrder, ABranchEndsBeforeTheNextBegins) {
  // Four branches: a wide buffer, then a narrow one; a last step adds the narrow ones. Given level
  // by level, all four wide ones are alive at once.
  std::vector<StepNeeds> steps;
  std::vector<size_t> bytes;
  for (int i = 0; i < 4; ++i) {
    steps.push_back({.after = {}, .reads = {}, .writes = {i}});
    bytes.push_back(1000);
  }
  for (int i = 0; i < 4; ++i) {
    steps.push_back({.after = {i}, .reads = {i}, .writes = {4 + i}});
    bytes.push_back(10);
  }
  steps.push_back({.after = {4, 5, 6, 7}, .reads = {4, 5, 6, 7}, .writes = {8}});
  bytes.push_back(10);
  std::vector<int> given(steps.size());
  std::iota(given.begin(), given.end(), 0);
  EXPECT_EQ(peak_of_order(steps, bytes, given), 4010u);
  const std::vector<int> order = order_steps(steps, bytes);
  EXPECT_EQ(order, (std::vector<int>{0, 4, 1, 5, 2, 6, 3, 7, 8}));
  EXPECT_EQ(peak_of_order(steps, bytes, order), 1040u);
}

TEST(StepOrder, AnOrderThatIsNoWorseStays) {
  const std::vector<StepNeeds> steps = {{.after = {}, .reads = {}, .writes = {0}},
                                        {.after = {}, .reads = {}, .writes = {1}},
                                        {.after = {0, 1}, .reads = {0, 1}, .writes = {2}}};
  EXPECT_EQ(order_steps(steps, std::vector<size_t>{10, 1, 1}), (std::vector<int>{0, 1, 2}));
}

TEST(StepOrder, StepsThatDontWaitRunSideBySide) {
  // One writes what three read; the last reads what those write.
  const std::vector<StepNeeds> steps = {{.after = {}, .reads = {}, .writes = {0}},
                                        {.after = {0}, .reads = {0}, .writes = {1}},
                                        {.after = {0}, .reads = {0}, .writes = {2}},
                                        {.after = {0}, .reads = {0}, .writes = {3}},
                                        {.after = {1, 2, 3}, .reads = {1, 2, 3}, .writes = {4}}};
  const std::vector<size_t> bytes = {10, 10, 10, 10, 10};
  const std::vector<int> order = {0, 1, 2, 3, 4};
  EXPECT_EQ(group_steps(steps, bytes, order, std::vector<bool>(5, false)),
            (std::vector<int>{0, 1, 1, 1, 2}));
  EXPECT_EQ(group_steps(steps, bytes, order, {false, false, true, false, false}),
            (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(StepOrder, StepsThatWouldRaiseThePeakRunOneAfterTheOther) {
  // Two branches, of a wide buffer and a narrow one.
  const std::vector<StepNeeds> steps = {{.after = {}, .reads = {}, .writes = {0}},
                                        {.after = {0}, .reads = {0}, .writes = {1}},
                                        {.after = {}, .reads = {}, .writes = {2}},
                                        {.after = {2}, .reads = {2}, .writes = {3}},
                                        {.after = {1, 3}, .reads = {1, 3}, .writes = {4}}};
  const std::vector<size_t> bytes = {1000, 10, 1000, 10, 10};
  EXPECT_EQ(group_steps(steps, bytes, std::vector<int>{0, 1, 2, 3, 4}, std::vector<bool>(5, false)),
            (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(StepOrder, RandomOrdersKeepDependencesAndNeverNeedMore) {
  std::mt19937 random(3);
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int improved = 0;
  for (int round = 0; round < 500; ++round) {
    const int n = 1 + below(30);
    std::vector<StepNeeds> steps(static_cast<size_t>(n));
    std::vector<size_t> bytes;
    for (int s = 0; s < n; ++s) {
      StepNeeds& step = steps[static_cast<size_t>(s)];
      step.writes = {s};
      bytes.push_back(static_cast<size_t>(below(1000)));
      for (int k = 0; s > 0 && k < below(4); ++k) {
        step.reads.push_back(below(s));
        step.after.push_back(step.reads.back());
      }
      if (s > 0 && below(5) == 0) step.after.push_back(below(s));
    }
    std::vector<int> given(steps.size());
    std::iota(given.begin(), given.end(), 0);
    const std::vector<int> order = order_steps(steps, bytes);
    std::vector<int> place(steps.size(), -1);
    for (size_t i = 0; i < order.size(); ++i) {
      ASSERT_EQ(place[static_cast<size_t>(order[i])], -1) << "a step runs twice";
      place[static_cast<size_t>(order[i])] = static_cast<int>(i);
    }
    ASSERT_EQ(order.size(), steps.size());
    for (size_t s = 0; s < steps.size(); ++s) {
      for (int before : steps[s].after) ASSERT_LT(place[static_cast<size_t>(before)], place[s]);
    }
    const size_t peak = peak_of_order(steps, bytes, order);
    ASSERT_LE(peak, peak_of_order(steps, bytes, given));
    improved += peak < peak_of_order(steps, bytes, given);
  }
  EXPECT_GT(improved, 50);
}

}  // namespace
}  // namespace luminal::runtime
