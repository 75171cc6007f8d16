// What a kernel takes at least: bytes, arithmetic and the launch, each on its own.
#include "luminal/search/cost/roofline_bound.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "luminal/graph/primitives.h"
#include "luminal/luminal.h"
#include "tests/search/planned.h"

namespace luminal::search {
namespace {

RooflineBound bound_of(const Graph& graph, const MachineModel& machine) {
  const FoundPlan found = plan(graph, FusionPolicy::Always);
  EXPECT_EQ(found.plan.n_kernels(), 1);
  return roofline_bound(std::get<kernel::KernelStep>(found.plan.steps[0]).lowered.kernel, machine,
                        {});
}

TEST(RooflineBound, AnElementwiseKernelReadsAndWritesOnce) {
  Graph graph;
  Tensor x = graph.input("x", {1000, 100});
  (x + x).output("y");
  const MachineModel machine;
  const RooflineBound bound = bound_of(graph, machine);
  EXPECT_DOUBLE_EQ(bound.bytes_seconds, 2 * 4 * 1e5 / machine.bytes_per_second);
  EXPECT_DOUBLE_EQ(bound.flops_seconds, 1e5 / machine.flops_per_second);
  EXPECT_DOUBLE_EQ(bound.launch_seconds, machine.launch_seconds);
}

TEST(RooflineBound, AMatrixProductHasTheRateOfProducts) {
  Graph graph;
  matmul(graph.input("a", {64, 128}), graph.input("b", {128, 256})).output("y");
  MachineModel machine;
  const double flops = 2.0 * 64 * 128 * 256;
  EXPECT_DOUBLE_EQ(bound_of(graph, machine).flops_seconds,
                   flops / machine.product_flops_per_second);
  machine.product_flops_per_second *= 2;
  EXPECT_DOUBLE_EQ(bound_of(graph, machine).flops_seconds,
                   flops / machine.product_flops_per_second);
}

// A cache of keys is updated where it lies: all but the rows written stay as they are.
TEST(RooflineBound, AnUpdateInPlaceTouchesItsRowsAlone) {
  Graph graph;
  const Tensor cache = graph.state("cache", {4096, 64});
  const Tensor rows = graph.input("rows", {4}, DType::I64);
  graph.update(cache, prim::scatter(cache, rows, graph.input("new", {4, 64})));
  const MachineModel machine;
  const double touched = bound_of(graph, machine).bytes_seconds * machine.bytes_per_second;
  EXPECT_GE(touched, 4 * 64 * 4.0);
  EXPECT_LE(touched, 4 * 64 * 4.0 * 3 + 4 * 8);
}

TEST(RooflineBound, NoModelledTimeIsBelowIt) {
  Graph graph;
  softmax(graph.input("x", {300, 700}), 1).output("y");
  const MachineModel machine;
  const FoundPlan found = plan(graph, FusionPolicy::Always);
  const auto& kernel = std::get<kernel::KernelStep>(found.plan.steps[0]).lowered.kernel;
  const RooflineBound bound = roofline_bound(kernel, machine, {});
  EXPECT_GE(seconds(kernel, machine, {}) * (1 + 1e-9),
            std::max(bound.bytes_seconds, bound.flops_seconds) + bound.launch_seconds);
}

}  // namespace
}  // namespace luminal::search
