// Plans as bytes: what is read is what was written, and what is no plan is refused.
#include "luminal/kernel/plan/plan_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "luminal/driver/plan/planning.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/traverse.h"
#include "luminal/kernel/ir/verify_kernel.h"
#include "luminal/kernel/plan/verify_plan.h"
#include "luminal/luminal.h"
#include "tests/support/random_graph.h"

namespace luminal::kernel {
namespace {

PlannedGraph planned_graph(const Graph& graph, FusionPolicy fusion = FusionPolicy::Modelled) {
  CompileReport report;
  return *plan_graph(graph, roots(graph), {.plan = {.fusion = fusion}}, report, Packing{});
}

std::string bytes_of(const PlannedGraph& planned) {
  shape::ExprWriter writer;
  write_plan(writer, planned);
  return writer.bytes();
}

PlannedGraph read(const std::string& bytes) {
  shape::ExprReader reader(bytes);
  PlannedGraph planned = read_plan(reader);
  reader.in.finish();
  return planned;
}

std::string why_not(const PlannedGraph& planned, const Graph& graph) {
  return verify_plan(planned, graph, roots(graph));
}

void expect_round_trip(const Graph& graph, FusionPolicy fusion) {
  const PlannedGraph planned = planned_graph(graph, fusion);
  const std::string bytes = bytes_of(planned);
  const PlannedGraph again = read(bytes);
  EXPECT_EQ(bytes_of(again), bytes);
  EXPECT_EQ(plan_text(again), plan_text(planned));
  EXPECT_EQ(why_not(again, graph), "");
}

// Two products over one weight, rows by index that are read and stored, a scan and a state.
std::unique_ptr<Graph> mixed_graph() {
  auto graph = std::make_unique<Graph>();
  const Expr s = Expr::var("s", 1, 64);
  const Tensor x = graph->input("x", {s, 32});
  const Tensor w = graph->weight("w", {32, 48});
  const Tensor index = graph->input("index", {4}, DType::I64);
  const Tensor held = graph->state("held", {64, 48});
  softmax(matmul(x, w), -1).output("y");
  const Tensor rows = prim::gather(held, index);
  graph->update(held, prim::scatter(held, index, rows * 2.0f));
  prim::scan(rows, Reducer::Sum).output("scanned");
  return graph;
}

std::unique_ptr<Graph> small_graph() {
  auto graph = std::make_unique<Graph>();
  const Tensor x = graph->input("x", {Expr::var("s", 1, 64), 8});
  (x - max(x, {-1}, {.keepdim = true})).output("y");
  return graph;
}

TEST(PlanBytes, AreReadAsTheSamePlan) {
  for (FusionPolicy fusion : {FusionPolicy::Modelled, FusionPolicy::Always, FusionPolicy::Never}) {
    expect_round_trip(*mixed_graph(), fusion);
  }
}

TEST(PlanBytes, SoAreThoseOfRandomGraphs) {
  int unproved = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    tests::RandomSource random(seed);
    const tests::RandomGraph made = tests::random_graph(random, {.most_nodes = 30});
    SCOPED_TRACE(seed);
    try {
      expect_round_trip(*made.graph, seed % 3 == 0 ? FusionPolicy::Never : FusionPolicy::Modelled);
    } catch (const base::ByteError& error) {
      // An index that only the sizes of a run show to be inside: see verify_kernel.
      EXPECT_NE(std::string(error.what()).find("the sizes of a run decide"), std::string::npos);
      ++unproved;
    }
  }
  EXPECT_LT(unproved, 6);
}

// Whatever the bytes are, reading them ends with a plan or with a ByteError, and verify_plan says
// something about any plan.
TEST(PlanBytes, DamageIsRefusedOrHarmless) {
  const auto graph = small_graph();
  const std::string whole = bytes_of(planned_graph(*graph));
  int refused = 0, cut = 0;
  auto is_refused = [&](const std::string& bytes) {
    try {
      return !why_not(read(bytes), *graph).empty();
    } catch (const base::ByteError&) {
      return true;
    }
  };
  for (size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 1 << bit);
      refused += is_refused(damaged);
    }
    cut += is_refused(whole.substr(0, at));
  }
  EXPECT_EQ(cut, static_cast<int>(whole.size()));
  EXPECT_GT(refused, static_cast<int>(whole.size()) * 8 * 3 / 4) << "names and figures may change";
}

TEST(VerifyPlan, APlanOfAnotherGraphIsRefused) {
  const auto mixed = mixed_graph(), small = small_graph();
  EXPECT_NE(why_not(planned_graph(*mixed), *small), "");
  EXPECT_NE(why_not(planned_graph(*small), *mixed), "");
}

TEST(VerifyPlan, StepsBeforeWhatTheyReadAreRefused) {
  const auto graph = mixed_graph();
  PlannedGraph planned = planned_graph(*graph, FusionPolicy::Never);
  ASSERT_EQ(why_not(planned, *graph), "");
  std::reverse(planned.plan.steps.begin(), planned.plan.steps.end());
  EXPECT_NE(why_not(planned, *graph).find("runs before the step whose result it reads"),
            std::string::npos);
  planned = planned_graph(*graph);
  planned.plan.steps.pop_back();
  EXPECT_NE(why_not(planned, *graph).find("isn't in memory"), std::string::npos);
}

TEST(VerifyKernel, NamesWhatCantBe) {
  const auto graph = small_graph();
  const Kernel kernel =
      std::get<KernelStep>(planned_graph(*graph, FusionPolicy::Always).plan.steps[0])
          .lowered.kernel;
  ASSERT_EQ(verify_kernel(kernel), "");
  const auto refused = [&](auto damage) {
    Kernel damaged = kernel;
    damage(damaged);
    return verify_kernel(damaged);
  };
  EXPECT_NE(refused([](Kernel& k) { k.n_outer = 7; }), "");
  EXPECT_NE(refused([](Kernel& k) { k.variables.clear(); }), "");
  EXPECT_NE(refused([](Kernel& k) { k.params.front().dims.pop_back(); }), "");
  EXPECT_NE(refused([](Kernel& k) { k.params.front().dtype = DType::I32; }), "");
  EXPECT_NE(refused([](Kernel& k) { k.params.back().output = false; }), "");
  EXPECT_NE(refused([](Kernel& k) { k.stages.front().result = InstId{99}; }), "");
  EXPECT_NE(refused([](Kernel& k) { k.stages.front().reduction->loop = LoopId{0}; }), "");
  EXPECT_NE(refused([](Kernel& k) { k.loops.pop_back(); }), "");
  EXPECT_NE(refused([](Kernel& k) { k.stages = {}; }), "");
  EXPECT_NE(refused([](Kernel& k) { k.stages.front().dtype = DType::F64; }), "");
}

// A plan that reads or writes outside of its tensors must not come back from a file.
TEST(VerifyKernel, EveryIndexIsProvedInside) {
  const auto graph = small_graph();
  const Kernel kernel =
      std::get<KernelStep>(planned_graph(*graph, FusionPolicy::Always).plan.steps[0])
          .lowered.kernel;
  int loads = 0, stores = 0;
  for (StageId s : kernel.stages.ids()) {
    for (int64_t amount : {1, -1, 1 << 24}) {
      for (size_t i = 0; i < kernel.stages[s].body.size(); ++i) {
        Kernel damaged = kernel;
        auto* load = std::get_if<LoadInst>(&damaged.stages[s].body[i].what);
        if (load == nullptr || load->index.empty()) continue;
        load->index[0].expr = load->index[0].expr + amount;
        EXPECT_NE(verify_kernel(damaged).find("isn't proved to stay inside"), std::string::npos);
        ++loads;
      }
      Kernel damaged = kernel;
      auto* output = std::get_if<OutputTarget>(&damaged.stages[s].target);
      if (output == nullptr || output->index.empty()) continue;
      output->index[0] = output->index[0] + amount;
      EXPECT_NE(verify_kernel(damaged).find("isn't proved to stay inside"), std::string::npos);
      ++stores;
    }
  }
  EXPECT_GT(loads, 0);
  EXPECT_GT(stores, 0);
}

}  // namespace
}  // namespace luminal::kernel
