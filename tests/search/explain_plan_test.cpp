// Every stored value that a kernel reads has its reason.
#include "luminal/search/cuts/explain_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/graph/primitives.h"
#include "luminal/luminal.h"
#include "luminal/search/cuts/plan_cost.h"
#include "tests/search/planned.h"

namespace luminal::search {
namespace {

using testing::HasSubstr;

std::vector<StoredValue> explained(const Planned& planned) {
  const FoundPlan found = find_plan(planned.extracted.graph, planned.request, planned.options);
  return explain_plan(planned.extracted.graph, planned.request, planned.options, found);
}

TEST(ExplainPlan, AResultThatIsReadAgain) {
  Graph graph;
  Tensor x = graph.input("x", {64, 64});
  Tensor y = sum(exp2(x), 1).output("y");
  sqrt(y).output("z");
  const std::vector<StoredValue> values = explained(prepare(graph, FusionPolicy::Never));
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].because, StoredBecause::Policy);
  EXPECT_EQ(values[1].because, StoredBecause::Result);
  EXPECT_EQ(values[1].readers.size(), 1u);
}

TEST(ExplainPlan, EveryOutputOfAKernelHasItsReason) {
  Graph graph;
  Tensor x = graph.input("x", {512, 512});
  Tensor root = sqrt(x).materialize(), wave = sin(x).materialize();
  (root.permute({1, 0}) * wave.permute({1, 0})).output("y");
  const Planned planned = prepare(graph);
  EXPECT_EQ(plan(graph).plan.n_kernels(), 2);  // sqrt and sin are one
  const std::vector<StoredValue> values = explained(planned);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(values[0].because, StoredBecause::Required);
  EXPECT_EQ(values[1].because, StoredBecause::Required);
}

TEST(ExplainPlan, GatheredData) {
  Graph graph;
  Tensor x = graph.input("x", {10, 4});
  Tensor rows = graph.input("rows", {3}, DType::I64);
  index_select(exp2(x), 0, rows).output("y");
  const std::vector<StoredValue> values = explained(prepare(graph, FusionPolicy::Always));
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0].because, StoredBecause::GatheredData);
}

TEST(ExplainPlan, AScatterIsNoWishOfTheUsers) {
  Graph graph;
  Tensor x = graph.input("x", {10, 4});
  Tensor rows = graph.input("rows", {3}, DType::I64);
  Tensor values = graph.input("values", {3, 4});
  sum(prim::scatter(x, rows, values), 0).output("y");
  const std::vector<StoredValue> values_read = explained(prepare(graph, FusionPolicy::Always));
  ASSERT_EQ(values_read.size(), 1u);
  EXPECT_EQ(values_read[0].because, StoredBecause::Scattered);
}

TEST(ExplainPlan, CostsMoreInsideSaysByHowMuch) {
  Graph graph;
  Tensor x = graph.input("x", {2048, 2048});
  (x * sum(x, 0).unsqueeze(0).expand({2048, 2048})).output("y");
  const std::vector<StoredValue> values = explained(prepare(graph));
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0].because, StoredBecause::CostsMoreInside);
  EXPECT_GT(values[0].extra_seconds, 0);
}

TEST(ExplainPlan, ALimitIsNamed) {
  Graph graph;
  softmax(graph.input("x", {4, 100}), 1).output("y");
  Planned planned = prepare(graph, FusionPolicy::Always);
  planned.options.limits.walk.most_instances = 6;
  planned.options.sideways = false;  // it would put the parts into one launch after all
  const std::vector<StoredValue> values = explained(planned);
  ASSERT_FALSE(values.empty());
  bool limited = false;
  for (const StoredValue& value : values) {
    if (value.because != StoredBecause::NoKernelHolds) continue;
    limited = true;
    EXPECT_THAT(value.why, HasSubstr("too many instances"));
  }
  EXPECT_TRUE(limited);
}

std::vector<AbsorbedValue> absorbed(const Planned& planned) {
  const FoundPlan found = find_plan(planned.extracted.graph, planned.request, planned.options);
  return explain_absorbed(planned.extracted.graph, planned.request, planned.options, found);
}

TEST(ExplainPlan, WhatIsComputedInsideHasAPlanThatStoresIt) {
  Graph graph;
  sqrt(exp2(graph.input("x", {1024, 1024}))).output("y");
  const Planned planned = prepare(graph);
  const std::vector<AbsorbedValue> values = absorbed(planned);
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0].kernels.size(), 1u);
  EXPECT_EQ(values[0].why, "");
  // The same plan, costed from nothing.
  PlanCost cost(planned.extracted.graph, planned.request, planned.options);
  std::vector<bool> cut = cost.forced();
  const double as_it_is = cost.cost(cut).seconds;
  cut[values[0].value.index()] = true;
  EXPECT_NEAR(values[0].extra_seconds, cost.cost(cut).seconds - as_it_is, 1e-9 * as_it_is);
  EXPECT_GT(values[0].extra_seconds, 0);
}

TEST(ExplainPlan, NothingIsInsideWhereNothingFuses) {
  Graph graph;
  softmax(graph.input("x", {64, 64}), 1).output("y");
  EXPECT_TRUE(absorbed(prepare(graph, FusionPolicy::Never)).empty());
}

TEST(ExplainPlan, NoSingleMoveIsBetterThanWhatTheSearchFound) {
  Graph graph;
  Tensor x = graph.input("x", {256, 512});
  softmax(x * sum(x, 0).unsqueeze(0).expand({256, 512}), 1).output("y");
  const std::vector<AbsorbedValue> values = absorbed(prepare(graph));
  EXPECT_FALSE(values.empty());
  for (const AbsorbedValue& value : values) {
    if (!value.why.empty()) continue;
    EXPECT_GE(value.extra_seconds, -1e-12);
  }
}

}  // namespace
}  // namespace luminal::search
