// Sideways fusion: which kernels of a plan become one launch, and which must not.
#include <gtest/gtest.h>

#include "luminal/luminal.h"
#include "planned.h"

namespace luminal::search {
namespace {

int kernels_of(const Graph& graph, FusionPolicy fusion = FusionPolicy::Modelled) {
  return plan(graph, fusion).plan.n_kernels();
}

TEST(MergeKernels, TwoUsersOfOneInputAreOneLaunch) {
  Graph graph;
  Tensor x = graph.input("x", {64, 512});
  (x + 1.0f).output("y");
  (x * 2.0f).output("z");
  EXPECT_EQ(kernels_of(graph), 1);
  EXPECT_EQ(kernels_of(graph, FusionPolicy::Always), 1);
  EXPECT_EQ(kernels_of(graph, FusionPolicy::Never), 2);
}

TEST(MergeKernels, MeanAndVarianceShareTheSum) {
  Graph graph;
  Tensor x = graph.input("x", {64, 512});
  mean(x, {-1}).output("mean");
  var(x, {-1}).output("var");
  const FoundPlan found = plan(graph);
  ASSERT_EQ(found.plan.n_kernels(), 1);
  const auto& lowered = std::get<kernel::KernelStep>(found.plan.steps[0]).lowered;
  EXPECT_EQ(kernel::stored_by(lowered).size(), 2u);
  int reductions = 0;
  for (const kernel::Stage& stage : lowered.kernel.stages)
    reductions += stage.reduction.has_value();
  EXPECT_EQ(reductions, 2) << kernel::text(lowered.kernel);
}

// The stream that a norm reads and later layers read again: stored on the side.
TEST(MergeKernels, WhatANormReadsIsStoredByItsKernel) {
  Graph graph;
  Tensor x = graph.input("x", {64, 512}) + graph.input("r", {64, 512});
  x.output("stream");
  rms_norm(x, {512}, graph.weight("w", {512}), 1e-5).output("y");
  const FoundPlan found = plan(graph);
  ASSERT_EQ(found.plan.n_kernels(), 1);
  const auto& kernel = std::get<kernel::KernelStep>(found.plan.steps[0]).lowered.kernel;
  int inputs = 0;
  for (const kernel::Param& param : kernel.params) inputs += !param.output;
  EXPECT_EQ(inputs, 3) << "the sum is not read back\n" << kernel::text(kernel);
}

TEST(MergeKernels, OtherOuterLoopsStayApart) {
  Graph graph;
  Tensor x = graph.input("x", {64, 512});
  (x + 1.0f).output("y");
  (x.transpose(0, 1) * 2.0f).output("z");
  EXPECT_EQ(kernels_of(graph), 2);
}

TEST(MergeKernels, AReaderOfOtherPointsStaysApart) {
  Graph graph;
  Tensor x = exp(graph.input("x", {64, 512}));
  x.output("x");
  (x.flip({0}) + 1.0f).output("y");
  const FoundPlan found = plan(graph, FusionPolicy::Always);
  EXPECT_EQ(found.plan.n_kernels(), 2);
}

TEST(MergeKernels, WhatDependsThroughAThirdStaysApart) {
  Graph graph;
  Tensor x = graph.input("x", {64, 64});
  Tensor a = (x + 1.0f).output("a");
  Tensor b = (a.transpose(0, 1) * 2.0f).output("b");
  (b.transpose(0, 1) + x).output("c");
  const FoundPlan found = plan(graph, FusionPolicy::Always);
  std::vector<bool> stored(prepare(graph).extracted.graph.classes.size(), false);
  for (const auto& step : found.plan.steps) {
    const auto& lowered = std::get<kernel::KernelStep>(step).lowered;
    for (kernel::ParamId k : lowered.origins.ids()) {
      if (lowered.kernel.params[k].output || lowered.origins[k].source.valid()) continue;
      EXPECT_TRUE(stored[lowered.origins[k].value.index()]) << "read before it is stored";
    }
    for (kernel::ClassId id : kernel::stored_by(lowered)) stored[id.index()] = true;
  }
}

TEST(MergeKernels, ABoundaryStays) {
  Graph graph;
  Tensor x = exp(graph.input("x", {64, 512})).materialize();
  (x + 1.0f).output("y");
  (x * 2.0f).output("z");
  EXPECT_EQ(kernels_of(graph, FusionPolicy::Always), 2);
}

TEST(MergeKernels, CanBeSwitchedOff) {
  Graph graph;
  Tensor x = graph.input("x", {64, 512});
  (x + 1.0f).output("y");
  (x * 2.0f).output("z");
  Planned planned = prepare(graph);
  planned.options.sideways = false;
  EXPECT_EQ(find_plan(planned.extracted.graph, planned.request, planned.options).plan.n_kernels(),
            2);
}

}  // namespace
}  // namespace luminal::search
