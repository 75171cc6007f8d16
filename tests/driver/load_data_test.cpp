#include "luminal/driver/compile/load_data.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "luminal/luminal.h"

namespace luminal {
namespace {

TensorData number(float value) { return NestedList({value}).data(DType::F32); }

TEST(LoadData, GivesEachLeafItsOwn) {
  Graph graph;
  graph.input("x", {1});
  std::atomic<int> calls = 0;
  for (int k = 0; k < 50; ++k) {
    const Tensor w = graph.weight("w" + std::to_string(k), {1});
    if (k % 10 == 0) continue;
    w.set([k, &calls] {
      ++calls;
      return number(static_cast<float>(k));
    });
  }
  const std::vector<NodeId> leaves = graph.leaves();
  for (int beside : {-1, 0, 1, 6, 99}) {
    calls = 0;
    const auto loaded = DataLoading(graph, leaves, beside).finish();
    ASSERT_EQ(loaded.size(), 51u);
    EXPECT_FALSE(loaded[0].has_value());
    for (size_t k = 0; k < 50; ++k) {
      ASSERT_EQ(loaded[k + 1].has_value(), k % 10 != 0) << k;
      if (!loaded[k + 1]) continue;
      EXPECT_EQ(loaded[k + 1]->to_doubles()[0], static_cast<double>(k));
    }
    EXPECT_EQ(calls, 45) << "once each";
  }
}

TEST(LoadData, TheFirstLeafThatFailsIsTheError) {
  Graph graph;
  for (int k = 0; k < 40; ++k) {
    graph.weight("w" + std::to_string(k), {1}).set([k]() -> TensorData {
      if (k >= 3) throw std::runtime_error("loader " + std::to_string(k));
      return number(1);
    });
  }
  const std::vector<NodeId> leaves = graph.leaves();
  for (int beside : {0, 3}) {
    try {
      DataLoading(graph, leaves, beside).finish();
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "loader 3");
    }
  }
}

// As where compiling fails meanwhile.
TEST(LoadData, WhatNobodyAsksForIsLeft) {
  Graph graph;
  std::atomic<int> calls = 0;
  std::atomic<bool> may_end = false;
  for (int k = 0; k < 20; ++k) {
    graph.weight("w" + std::to_string(k), {1}).set([&] {
      ++calls;
      while (!may_end) std::this_thread::yield();
      return number(1);
    });
  }
  const std::vector<NodeId> leaves = graph.leaves();
  std::optional<std::jthread> ends;
  {
    const DataLoading loading(graph, leaves, 2);
    while (calls < 2) std::this_thread::yield();  // both have begun
    ends.emplace([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      may_end = true;
    });
  }
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace luminal
