// The two ways to compute each graph of two_ways_bench differ in their plans, and agree in results;
// so does the plan of the graph as it is written.
#include <gtest/gtest.h>

#include "apps/bench/search/measured_plans.h"
#include "apps/bench/search/two_ways_graphs.h"
#include "luminal/backends/cpu/onednn/library_matmul.h"

namespace luminal {
namespace {

CompileOptions quick() {
  CompileOptions options;
  options.backend.threads = 2;
  options.storage.cache_folder = "none";
  options.search.mode = SearchMode::Modelled;
  return options;
}

std::unique_ptr<MeasuredPlan> plan_of(const Way& way) {
  CompileOptions options = quick();
  options.plan = way.plan;
  options.backend.library = way.library;
  Graph graph;
  way.build(graph);
  return measured_plan(way.what, graph, options, way.change);
}

std::unique_ptr<MeasuredPlan> plan_as_written(const TwoWays& of) {
  CompileOptions options = quick();
  options.plan.numerics = of.numerics;
  Graph graph;
  of.build(graph);
  return measured_plan("as written", graph, options, nullptr);
}

class TwoWaysGraphs : public testing::TestWithParam<std::string> {};

TEST_P(TwoWaysGraphs, HaveTwoPlansThatAgree) {
  const TwoWays& of = two_ways(GetParam());
  if (of.choice == Choice::Library && !backends::cpu::library_available()) {
    GTEST_SKIP() << "this build has no library";
  }
  ASSERT_EQ(of.ways.size(), 2u);
  const auto a = plan_of(of.ways[0]), b = plan_of(of.ways[1]), written = plan_as_written(of);
  EXPECT_NE(a->form, b->form);
  EXPECT_LT(difference(*a, *b), 1e-3);
  EXPECT_LT(difference(*a, *written), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(All, TwoWaysGraphs, testing::ValuesIn(two_ways_names()),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           for (char& c : name) {
                             if (c == '-') c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace luminal
