#include "luminal/backends/cpu/plan/run_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "luminal/driver/plan/planning.h"
#include "luminal/luminal.h"

namespace luminal::backends::cpu {
namespace {

// Every op its own kernel.
RunPlan plan_of(const Graph& graph) {
  std::shared_ptr<const Graph> snapshot = graph.clone();
  LoadRequest request{.graph = snapshot, .ports = {}, .options = {}, .planned = {}};
  request.ports.leaves = snapshot->leaves();
  for (const Output& output : snapshot->outputs()) request.ports.results.push_back(output.node);
  CompileReport report;
  request.planned =
      plan_graph(*snapshot, roots(*snapshot), {.plan = {.fusion = FusionPolicy::Never}}, report);
  return make_run_plan(request);
}

// The largest sum of bytes alive at once, at f32 and static dims.
int64_t peak(const RunPlan& plan) {
  int64_t most = 0;
  for (int step = 0; step <= static_cast<int>(plan.run_steps.size()); ++step) {
    int64_t alive = 0;
    for (const RunTensor& tensor : plan.tensors) {
      if (tensor.home != Home::Arena || tensor.first > step || tensor.last < step) continue;
      alive += n_elements(tensor.dims).to_int().value();
    }
    most = std::max(most, alive);
  }
  return most;
}

TEST(RunPlan, WideBranchesRunOneAfterTheOther) {
  Graph graph;
  Tensor x = graph.input("x", {1000});
  std::vector<Tensor> wide, narrow;
  for (int i = 0; i < 4; ++i) wide.push_back(sin(x * (i + 1.0)));
  for (const Tensor& w : wide) narrow.push_back(sum(w * 1.5, 0));
  (narrow[0] + narrow[1] + narrow[2] + narrow[3]).output("y");
  EXPECT_LE(peak(plan_of(graph)), 2 * 1000 + 100);
}

TEST(RunPlan, ReadersOfAStateComeBeforeTheStepThatWritesOverIt) {
  Graph graph;
  Tensor state = graph.state("state", {8});
  Tensor x = graph.input("x", {8});
  graph.update(state, state + x);
  Tensor early = sin(x).output("early");
  (state * early).output("late");  // reads the old value
  const RunPlan plan = plan_of(graph);
  EXPECT_TRUE(plan.copies.empty());
  EXPECT_EQ(std::count(plan.in_place.begin(), plan.in_place.end(), true), 1);
  int writer = -1, reader = -1;
  for (size_t s = 0; s < plan.run_steps.size(); ++s) {
    const RunStep& step = plan.run_steps[s];
    for (kernel::ParamId p : step.params.ids()) {
      const RunTensor& tensor = plan.tensors[step.params[p]];
      if (tensor.home != Home::Port || tensor.port != runtime::PortId{0}) continue;  // the state's
      if (step.is_output[p]) writer = static_cast<int>(s);
      if (!step.is_output[p]) reader = std::max(reader, static_cast<int>(s));
    }
  }
  ASSERT_GE(writer, 0) << "written in place";
  EXPECT_LE(reader, writer);
}

TEST(RunPlan, AStateThatTheNewValueNeedsLaterIsCopied) {
  Graph graph;
  Tensor state = graph.state("state", {8});
  Tensor next = state * 2.0;
  graph.update(state, next);
  (sin(next) + state).output("y");  // the old value after the new one
  const RunPlan plan = plan_of(graph);
  ASSERT_EQ(plan.copies.size(), 1u);
  EXPECT_EQ(plan.tensors[plan.copies[0].to].port, runtime::PortId{0});
}

TEST(RunPlan, ElementwiseResultsMayTakeTheirInputsMemory) {
  Graph graph;
  Tensor x = graph.input("x", {4, 8});
  Tensor a = sin(x);
  Tensor b = exp2(a);            // in place
  Tensor c = sqrt(b.flip({0}));  // not: it reads other rows
  (c * 2.0).output("y");
  const RunPlan plan = plan_of(graph);
  int taking = 0;
  for (const RunTensor& tensor : plan.tensors) taking += !tensor.may_take.empty();
  EXPECT_EQ(taking, 1);
  EXPECT_EQ(std::count(plan.in_place.begin(), plan.in_place.end(), true), 1);
}

TEST(RunPlan, StepsOverWeightsAloneAreApart) {
  Graph graph;
  Tensor x = graph.input("x", {8});
  Tensor w = graph.weight("w", {8});
  (sqrt(sin(w)) * x).output("y");  // both are folded, one is kept
  exp2(w).output("z");             // a result: each run writes it
  Tensor few = graph.weight("few", {1});
  (sin(few.expand({8}) + 1.0) * x).output("broadcast");
  const RunPlan plan = plan_of(graph);
  EXPECT_EQ(plan.load_steps.size(), 2u);
  for (const RunStep& step : plan.load_steps) {
    for (TensorId id : step.params) {
      const RunTensor& tensor = plan.tensors[id];
      EXPECT_TRUE(tensor.home != Home::Port || tensor.port == runtime::PortId{1} ||
                  tensor.port == runtime::PortId{2})
          << tensor.name;
    }
  }
  EXPECT_EQ(plan.folded.size(), 1u);
}

TEST(RunPlan, AWeightIsSpentByTheLastLoadStepThatReadsIt) {
  Graph graph;
  Tensor x = graph.input("x", {8});
  Tensor w = graph.weight("w", {8});
  Tensor v = graph.weight("v", {8});
  (x * (sin(w) * w)).output("y");
  (x * (sin(v) + x * v)).output("z");
  const RunPlan plan = plan_of(graph);
  std::vector<std::string> spent;
  for (const RunStep& step : plan.load_steps) {
    for (TensorId id : step.spent) spent.push_back(plan.tensors[id].name);
  }
  EXPECT_EQ(spent, std::vector<std::string>{"'w'"}) << "runs read v";
  for (const RunStep& step : plan.run_steps) EXPECT_TRUE(step.spent.empty());
}

}  // namespace
}  // namespace luminal::backends::cpu
