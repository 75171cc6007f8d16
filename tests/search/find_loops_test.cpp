#include "luminal/search/rolling/find_loops.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "luminal/graph/traverse.h"
#include "luminal/luminal.h"
#include "luminal/search/rolling/periodic_runs.h"
#include "luminal/search/rolling/roll_graph.h"
#include "tests/search/llama_blocks.h"
#include "tests/support/random_source.h"

namespace luminal::search {
namespace {

std::vector<uint32_t> symbols_of(const std::string& text) {
  return std::vector<uint32_t>(text.begin(), text.end());
}

TEST(PeriodicRuns, OfAWordRepeatedAreAsLongAsTheyCanBe) {
  const auto runs = periodic_runs(symbols_of("xyabcabcabcabcabq"));
  ASSERT_FALSE(runs.empty());
  EXPECT_EQ(runs.front(), (PeriodicRun{.start = 2, .period = 3, .length = 14}));
  EXPECT_EQ(runs.front().trips(), 4u);
  EXPECT_TRUE(periodic_runs(symbols_of("abcdefg")).empty());
  EXPECT_TRUE(periodic_runs({}).empty());
}

// A word of random letters with smaller repeats inside, among other random letters.
TEST(PeriodicRuns, FindEveryPlantedLoop) {
  tests::RandomSource random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const int64_t letters = random.between(2, 6);
    auto some = [&](int64_t count) {
      std::vector<uint32_t> made;
      for (int64_t i = 0; i < count; ++i) {
        made.push_back(static_cast<uint32_t>(random.below(letters)));
      }
      return made;
    };
    auto append = [](std::vector<uint32_t>& to, const std::vector<uint32_t>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    std::vector<uint32_t> body = some(random.between(3, 60));
    body.push_back(100);  // only there, so that no shorter period runs through it
    const int64_t trips = random.between(2, 48);
    std::vector<uint32_t> all = some(random.between(0, 100));
    const size_t start = all.size();
    for (int64_t t = 0; t < trips; ++t) append(all, body);
    append(all, some(random.between(0, 100)));
    const auto runs = periodic_runs(all);
    EXPECT_TRUE(std::ranges::any_of(runs, [&](const PeriodicRun& run) {
      return run.period == body.size() && run.start <= start &&
             run.start + run.length >= start + static_cast<size_t>(trips) * body.size();
    })) << trial;
  }
}

std::vector<std::vector<Loop>> loops_of(const Graph& graph, Rolling roll) {
  return find_loops(graph, roots(graph), roll, {});
}

size_t n_markers(const RolledGraph& rolled, int loop) {
  return static_cast<size_t>(
      std::ranges::count(rolled.markers, loop, [](const LoopMarker& m) { return m.loop; }));
}

TEST(FindLoops, BlocksOfALlamaHandOverTheResidualAlone) {
  Graph graph;
  add_llama_blocks(graph, 6);
  const auto ways = loops_of(graph, Rolling::Auto);
  ASSERT_EQ(ways.size(), 2u);  // after attention, or after the feed-forward layer
  ASSERT_EQ(ways[0].size(), 1u);
  EXPECT_EQ(ways[0][0].n_trips(), 6u);
  const RolledGraph rolled = roll_graph(graph, roots(graph), ways[0]);
  EXPECT_EQ(n_markers(rolled, 1), 10u);  // the residual, two norms and seven matrices
  EXPECT_EQ(n_markers(rolled, 0), 0u);   // the last residual is a result, and nothing reads it
  EXPECT_EQ(rolled.summary, "6 iterations of " + std::to_string(ways[0][0].n_nodes()) + " nodes");
  EXPECT_TRUE(loops_of(graph, Rolling::Off).empty());
}

TEST(FindLoops, OneBlockAndParallelProductsAreNoLayers) {
  Graph one;
  add_llama_blocks(one, 1);
  EXPECT_TRUE(loops_of(one, Rolling::Auto).empty());
  Graph towers;  // large and equal, but nothing goes from one to the next
  for (int i = 0; i < 3; ++i) {
    const std::string name = "x" + std::to_string(i);
    llama_block(nn::Scope(towers).child(i), towers.input(name, {1, 8, 64}), 4, 2)
        .output("y" + std::to_string(i));
  }
  EXPECT_TRUE(loops_of(towers, Rolling::Auto).empty());
  ASSERT_FALSE(loops_of(towers, Rolling::Always).empty());
  EXPECT_FALSE(loops_of(towers, Rolling::Always)[0][0].is_chain());
}

// x -> sigmoid(x · w_t + table)
Tensor layer(Graph& graph, const Tensor& x, int t, const Tensor& table) {
  const Tensor w = graph.weight("w" + std::to_string(t), {8, 8});
  return sigmoid(matmul(x, w) + table);
}

TEST(FindLoops, WhatTheFirstTripMakesForAllIsOutside) {
  Graph graph;
  Tensor x = graph.input("x", {4, 8});
  const Tensor in = graph.input("table", {4, 8});
  std::optional<Tensor> table;
  for (int t = 0; t < 5; ++t) {
    const Tensor w = graph.weight("w" + std::to_string(t), {8, 8});
    const Tensor product = matmul(x, w);
    if (!table) table = exp2(in * in);  // in the middle of the first trip
    x = sigmoid(product + *table);
  }
  x.output("y");
  const auto ways = loops_of(graph, Rolling::Always);
  ASSERT_FALSE(ways.empty());
  EXPECT_EQ(ways[0][0].n_trips(), 5u);
  const RolledGraph rolled = roll_graph(graph, roots(graph), ways[0]);
  EXPECT_EQ(n_markers(rolled, 1), 2u);  // x and w: the table is static
}

TEST(FindLoops, TwoLoopsOneAfterTheOther) {
  Graph graph;
  Tensor x = graph.input("x", {4, 8});
  const Tensor table = graph.input("table", {4, 8});
  for (int t = 0; t < 4; ++t) x = layer(graph, x, t, table);
  x = softmax(x, -1);
  for (int t = 0; t < 7; ++t) x = gelu(x + table) * graph.weight("v" + std::to_string(t), {4, 8});
  x.output("y");
  const auto ways = loops_of(graph, Rolling::Always);
  ASSERT_FALSE(ways.empty());
  ASSERT_GE(ways[0].size(), 2u);
  EXPECT_EQ(ways[0][0].n_trips(), 7u);
  EXPECT_EQ(ways[0][1].n_trips(), 4u);
}

// Two values that change places are carried over two trips.
TEST(FindLoops, AValueMayBeHandedOverSeveralTrips) {
  Graph graph;
  Tensor a = graph.input("a", {4, 8}), b = graph.input("b", {4, 8});
  for (int t = 0; t < 6; ++t) {
    const Tensor next = sigmoid(a * b + a);
    b = a;
    a = next;
  }
  (a + b).output("y");
  const auto ways = loops_of(graph, Rolling::Always);
  ASSERT_FALSE(ways.empty());
  EXPECT_GE(ways[0][0].n_trips(), 5u);
  bool far = false;
  for (const auto& operands : ways[0][0].operands) {
    for (const LoopOperand& operand : operands) far |= operand.distance == 2;
  }
  EXPECT_TRUE(far);
}

}  // namespace
}  // namespace luminal::search
