// Saturation by all rules, those of every numerics class among them: each further layer adds as
// many rows to the e-graph as the one before it, and 32 layers take a fraction of a second.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <limits>

#include "luminal/graph/traverse.h"
#include "luminal/llm/models/bert/bert.h"
#include "luminal/llm/models/llama/llama.h"
#include "luminal/luminal.h"
#include "luminal/search/pipeline/rotation_planner.h"
#include "tests/search/llama_blocks.h"

namespace luminal {
namespace {

constexpr int kLayers = 32;
constexpr int kTimes = 5;  // other load on the machine only ever adds

struct Saturated {
  uint64_t rows = 0;
  double seconds = 0;
};

Saturated saturate(const Graph& graph, Rolling roll) {
  search::PlanningOptions planning;
  planning.admission.up_to = Numerics::Approximate;
  planning.search.sizes = search::representative_sizes(variables(graph), {});
  planning.roll = roll;
  const std::vector<NodeId> needed = roots(graph);
  search::RotationPlanner planner =
      std::move(search::rotation_planners(graph, needed, planning).front());
  EXPECT_EQ(planner.rolled() != nullptr, roll != Rolling::Off);
  planner.lower();
  planner.saturate();
  const egraph::RunReport& report = planner.saturation();
  EXPECT_EQ(report.stop, egraph::StopReason::Finished);
  return {report.tuples, report.search_seconds + report.apply_seconds + report.rebuild_seconds};
}

TEST(SaturationGrowth, RowsAreLinearInTheNumberOfBlocks) {
  uint64_t one = 0, each = 0;
  for (int blocks : {1, 2, 4, 8, 12, kLayers}) {
    Graph graph;
    search::add_llama_blocks(graph, blocks);
    const uint64_t rows = saturate(graph, Rolling::Off).rows;
    if (blocks == 1) one = rows;
    if (blocks == 2) each = rows - one;
    EXPECT_EQ(rows, one + static_cast<uint64_t>(blocks - 1) * each) << blocks;
    std::printf("llama_rows %d %llu\n", blocks, static_cast<unsigned long long>(rows));
  }
  EXPECT_LE(each, 760u);
}

// Prints the best time, which tools/claims judges; here it only must not be absurd.
void expect_soon(const char* model, const Graph& graph) {
  for (Rolling roll : {Rolling::Off, Rolling::Auto}) {
    Saturated best{.seconds = std::numeric_limits<double>::infinity()};
    for (int time = 0; time < kTimes; ++time) {
      const Saturated now = saturate(graph, roll);
      best = {now.rows, std::min(best.seconds, now.seconds)};
    }
    std::printf("saturation_ms %s %s %.2f rows %llu\n", model,
                roll == Rolling::Off ? "unrolled" : "rolled", best.seconds * 1e3,
                static_cast<unsigned long long>(best.rows));
    EXPECT_LT(best.seconds, 5) << model;
  }
}

TEST(SaturationGrowth, BertOf32LayersSaturatesSoon) {
  Graph graph;
  const Tensor ids = graph.input("ids", {Expr::var("s", 1, 512)}, DType::I64);
  llm::build_bert(nn::Scope(graph), ids, {.layers = kLayers}).output("y");
  expect_soon("bert-base", graph);
}

TEST(SaturationGrowth, LlamaOf32LayersSaturatesSoon) {
  Graph graph;
  llm::build_llama(nn::Scope(graph, "", DType::BF16), {.vocab_size = 128256,
                                                       .features = 4096,
                                                       .hidden = 14336,
                                                       .layers = kLayers,
                                                       .heads = 32,
                                                       .kv_heads = 8,
                                                       .head_size = 128,
                                                       .context = 8192});
  expect_soon("llama-8b", graph);
}

}  // namespace
}  // namespace luminal
