// The parts that a measured search measures with: values of leaves, medians, sampled checks, what
// is kept of a plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "luminal/base/byte_stream.h"
#include "luminal/driver/measure/leaf_values.h"
#include "luminal/driver/measure/median.h"
#include "luminal/driver/measure/tuned_plan.h"
#include "luminal/graph/primitives.h"
#include "luminal/kernel/ir/interpret_kernel.h"
#include "luminal/luminal.h"
#include "luminal/shape/scalar.h"
#include "tests/search/planned.h"

namespace luminal {
namespace {

TEST(Median, OfFewAndMany) {
  EXPECT_EQ(median_of({3}).value, 3);
  EXPECT_EQ(median_of({4, 1}).value, 2.5);
  EXPECT_EQ(median_of({9, 1, 5}).value, 5);
  std::vector<double> many;
  for (int i = 0; i <= 100; ++i) many.push_back(i);
  const Median found = median_of(many);
  EXPECT_EQ(found.value, 50);
  EXPECT_GT(found.low, 35);
  EXPECT_LT(found.low, 45);
  EXPECT_GT(found.high, 55);
  EXPECT_LT(found.high, 65);
}

// The interval holds the median of what the samples are of as often as it says.
TEST(Median, IntervalHoldsTheMedian) {
  uint64_t state = 7;
  int inside = 0;
  constexpr int kTries = 2000;
  for (int t = 0; t < kTries; ++t) {
    std::vector<double> samples;
    for (int i = 0; i < 15; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      samples.push_back(static_cast<double>(state >> 33));
    }
    const Median found = median_of(samples);
    inside += found.low <= 0x1p30 && 0x1p30 <= found.high;
  }
  EXPECT_GT(inside, kTries * 94 / 100);
}

std::vector<double> numbers(DType dtype, const runtime::Buffer& buffer, int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(is_float(dtype)
                         ? load_float(dtype, buffer.bytes().data(), i)
                         : static_cast<double>(load_int(dtype, buffer.bytes().data(), i)));
  }
  return values;
}

TEST(LeafValues, AreNeitherZerosNorOnes) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16, DType::F64, DType::I8, DType::I32}) {
    Graph graph;
    graph.input("x", {3, 17}, dtype);
    graph.weight("w", {70'000}, dtype);
    const auto leaves = leaf_values(graph, {}, graph, graph.leaves(), 1);
    ASSERT_EQ(leaves.size(), 2u);
    for (const auto& [leaf, count] : {std::pair(0, 51), std::pair(1, 70'000)}) {
      const std::vector<double> values = numbers(dtype, leaves[static_cast<size_t>(leaf)], count);
      EXPECT_GT(std::set<double>(values.begin(), values.end()).size(), 20u) << name(dtype);
    }
  }
}

TEST(LeafValues, AreThoseOfTheSeed) {
  Graph graph;
  graph.input("x", {64});
  const auto bytes = [&](uint64_t seed) {
    const auto leaves = leaf_values(graph, {}, graph, graph.leaves(), seed);
    return std::string(reinterpret_cast<const char*>(leaves[0].bytes().data()), leaves[0].size());
  };
  EXPECT_EQ(bytes(1), bytes(1));
  EXPECT_NE(bytes(1), bytes(2));
}

TEST(LeafValues, IndicesStayWithinRows) {
  Graph graph;
  const Tensor table = graph.weight("table", {7, 4});
  const Tensor ids = graph.input("ids", {100}, DType::I32);
  luminal::prim::gather(table, ids).output("y");
  const auto leaves = leaf_values(graph, {}, graph, graph.leaves(), 1);
  for (double id : numbers(DType::I32, leaves[1], 100)) {
    EXPECT_GE(id, 0);
    EXPECT_LT(id, 7);
  }
}

TEST(LeafValues, WeightsThatAreSetAreTaken) {
  Graph graph;
  const Tensor w = graph.weight("w", {4});
  w.set(std::vector<float>{1, 2, 3, 4});
  const auto leaves = leaf_values(graph, {}, graph, graph.leaves(), 1);
  EXPECT_THAT(numbers(DType::F32, leaves[0], 4), testing::ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(leaf_bytes(graph, {}, graph, graph.leaves()), 0u);
}

TEST(LeafValues, EmptyLeavesHaveNone) {
  Graph graph;
  graph.input("x", {0, 5});
  EXPECT_EQ(leaf_values(graph, {}, graph, graph.leaves(), 1)[0].size(), 0u);
}

// Some points of a kernel have the values that all have.
TEST(InterpretPoints, AreThoseOfTheWholeKernel) {
  Graph graph;
  const Tensor x = graph.input("x", {900, 64});
  softmax(x, -1).output("y");
  const search::FoundPlan found = search::plan(graph);
  const kernel::Kernel& kernel =
      std::get<kernel::KernelStep>(found.plan.steps.front()).lowered.kernel;
  const kernel::InterpretedWork work = kernel::interpreted_work(kernel, {});
  ASSERT_GT(work.points, 2);
  EXPECT_GT(work.operations, 900 * 64);
  std::vector<float> in(900 * 64), whole(900 * 64, -1), some(900 * 64, -1);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 7);
  auto bytes = [](std::vector<float>& values) {
    return reinterpret_cast<std::byte*>(values.data());
  };
  const std::vector<std::byte*> all = {bytes(in), bytes(whole)}, few = {bytes(in), bytes(some)};
  kernel::interpret_kernel(kernel, {}, all);
  const std::vector<int64_t> points = {0, work.points - 1};
  const auto written = kernel::interpret_points(kernel, {}, few, points).written;
  ASSERT_FALSE(written.empty());
  for (const auto& [param, at] : written) {
    EXPECT_EQ(param, kernel::ParamId{1});
    EXPECT_EQ(some[static_cast<size_t>(at)], whole[static_cast<size_t>(at)]);
  }
  EXPECT_EQ(std::ranges::count(some, -1.0f), static_cast<long>(some.size() - written.size()));
}

TEST(TunedPlan, ComesBackAsItWas) {
  const TunedPlan plan{.seconds = 20,
                       .candidates = 200,
                       .trail = {.proposals = 9, .tuned = 3, .comparisons = 2, .champion = "abc"},
                       .entry = std::string("\0plan", 5)};
  const base::Secret secret = {1, 2, 3};
  const std::string bytes = write_tuned_plan(plan, "question", secret);
  const TunedPlan again = read_tuned_plan(bytes, "question", secret);
  EXPECT_EQ(write_tuned_plan(again, "question", secret), bytes);
  EXPECT_EQ(again.entry, plan.entry);
  EXPECT_TRUE(again.is_own);
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(read_tuned_plan(std::string_view(bytes).substr(0, length), "question", secret),
                 base::ByteError);
  }
}

TEST(TunedPlan, OfAnotherSecretOrQuestionIsNotOwn) {
  const TunedPlan plan{.seconds = 1, .candidates = 2, .trail = {}, .entry = "entry"};
  const base::Secret secret = {1, 2, 3}, other = {1, 2, 4};
  const std::string bytes = write_tuned_plan(plan, "question", secret);
  EXPECT_FALSE(read_tuned_plan(bytes, "question", other).is_own);
  EXPECT_FALSE(read_tuned_plan(bytes, "another", secret).is_own);
  EXPECT_FALSE(read_tuned_plan(bytes, "question", std::nullopt).is_own);
  EXPECT_FALSE(
      read_tuned_plan(write_tuned_plan(plan, "question", std::nullopt), "question", secret).is_own);
  std::string changed = bytes;
  changed[changed.find("entry")] = 'E';
  EXPECT_FALSE(read_tuned_plan(changed, "question", secret).is_own);
}

}  // namespace
}  // namespace luminal
