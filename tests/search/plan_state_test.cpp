// The plan that moves keep up to date is the plan of its cuts, and sharing lowered kernels between
// equal layers changes nothing but the time it takes.
#include "luminal/search/cuts/plan_state.h"

#include <gtest/gtest.h>

#include <random>

#include "luminal/llm/models/bert/bert.h"
#include "luminal/luminal.h"
#include "tests/search/llama_blocks.h"
#include "tests/search/planned.h"

namespace luminal::search {
namespace {

using kernel::ClassId;

void add_bert(Graph& graph, int layers) {
  Tensor ids = graph.input("ids", {Expr::var("s", 1, 128)}, DType::I64);
  llm::build_bert(nn::Scope(graph), ids,
                  {.vocab_size = 100, .features = 64, .hidden = 256, .layers = layers, .heads = 4})
      .output("y");
}

struct Case {
  const char* name;
  void (*build)(Graph& graph);
};

const Case kCases[] = {
    {"llama", [](Graph& graph) { add_llama_blocks(graph, 2); }},
    {"bert", [](Graph& graph) { add_bert(graph, 2); }},
};

void expect_plan_of_its_cuts(const PlanState& state, PlanCost& cost, const std::string& what) {
  const CostedPlan fresh = cost.cost(state.cut());
  ASSERT_EQ(fresh.why, "") << what;
  EXPECT_NEAR(state.seconds(), fresh.seconds, fresh.seconds * 1e-9) << what;
  std::vector<ClassId> stored;
  for (const auto& [id, kernel] : fresh.kernels) stored.push_back(id);
  EXPECT_EQ(state.stored(), stored) << what;
}

TEST(PlanState, StaysThePlanOfItsCutsUnderRandomMoves) {
  for (const Case& c : kCases) {
    Graph graph;
    c.build(graph);
    Planned planned = prepare(graph);
    PlanCost cost(planned.extracted.graph, planned.request, planned.options);
    std::vector<bool> cut = cost.forced();
    for (ClassId id : cost.live()) cut[id.index()] = true;
    PlanState state(cost, cut);
    std::mt19937 random(7);
    int kept = 0;
    for (int step = 0; step < 400; ++step) {
      std::vector<ClassId> move;
      for (size_t n = 1 + random() % 3; n > 0; --n) {
        const ClassId id = cost.live()[random() % cost.live().size()];
        if (std::find(move.begin(), move.end(), id) == move.end()) move.push_back(id);
      }
      const double before = state.seconds();
      const std::vector<bool> cut_before = state.cut();
      if (state.improve({move})) {
        ++kept;
        EXPECT_LE(state.seconds(), before * (1 + 1e-6)) << c.name;
      } else {
        EXPECT_EQ(state.cut(), cut_before) << c.name;
        EXPECT_EQ(state.seconds(), before) << c.name;
      }
      if (step % 20 == 0) expect_plan_of_its_cuts(state, cost, c.name);
    }
    expect_plan_of_its_cuts(state, cost, c.name);
    EXPECT_GT(kept, 1) << c.name;
  }
}

// Alone, a view of either sum will do, and the first is taken. Once the other is stored for
// its own reader, the view is nearly free.
TEST(PlanState, ReadsThroughTheViewWhoseSourceIsStored) {
  const Dims dims = {1024};
  const IndexMap flip = IndexMap::flip(dims, 0);
  kernel::TermGraph graph;
  graph.sources = {{{1024, 4096}, DType::F32, "x"}, {{1024, 4096}, DType::F32, "y"}};
  const ClassId x{0}, y{1}, alone{2}, shared{3}, view{4}, first{5}, second{6};
  graph.classes = {
      {{1024, 4096}, DType::F32, {kernel::LoadTerm{kernel::SourceId{0}}}},
      {{1024, 4096}, DType::F32, {kernel::LoadTerm{kernel::SourceId{1}}}},
      {dims, DType::F32, {kernel::ReduceTerm{Reducer::Sum, x}}},
      {dims, DType::F32, {kernel::ReduceTerm{Reducer::Sum, y}}},
      {dims, DType::F32, {kernel::ReindexTerm{flip, alone}, kernel::ReindexTerm{flip, shared}}},
      {dims, DType::F32, {kernel::OpTerm{Op::Sqrt, {view}}}},
      {dims, DType::F32, {kernel::OpTerm{Op::Recip, {shared}}}},
  };
  const SearchOptions options;
  const PlanRequest request = {.stored = {first, second}, .host_steps = {}, .boundaries = {}};
  PlanCost cost(graph, request, options);
  PlanState state(cost, cost.forced());
  const double of_both_sums = state.seconds();
  EXPECT_EQ(state.stored(), (std::vector{first, second}));

  EXPECT_TRUE(state.improve({{shared}}));
  EXPECT_EQ(state.reads(first), std::vector{shared});
  EXPECT_LT(state.seconds(), of_both_sums * 0.75);
  expect_plan_of_its_cuts(state, cost, "the shared one is stored");

  EXPECT_FALSE(state.improve({{shared}}));
  EXPECT_EQ(state.reads(first), std::vector{shared});
  expect_plan_of_its_cuts(state, cost, "the move back was undone");
}

TEST(PlanState, WithoutAPlanItSaysWhy) {
  Graph graph;
  add_bert(graph, 2);
  Planned planned = prepare(graph);
  planned.options.limits.walk.most_instances = 3;
  PlanCost cost(planned.extracted.graph, planned.request, planned.options);
  const PlanState state(cost, cost.forced());
  EXPECT_EQ(state.why(), "too many instances");
}

// Lowered from its own terms, by the function that all kernels come from.
TEST(PlanCost, ASharedKernelHasTheNamesOfItsOwnLayer) {
  for (const Case& c : kCases) {
    Graph graph;
    c.build(graph);
    Planned planned = prepare(graph);
    const kernel::TermGraph& terms = planned.extracted.graph;
    PlanCost cost(terms, planned.request, planned.options);
    const FoundPlan found = find_plan(terms, planned.request, planned.options);
    const kernel::Choice choice = found.choice;
    for (const auto& [root, shared] : cost.cost(found.choice).kernels) {
      std::vector<std::vector<Expr>> factors;
      for (Expr dim : terms.at(root).dims) factors.push_back({dim});
      auto instances = kernel::walk(terms, choice, root, factors);
      ASSERT_TRUE(instances);
      instances = kernel::walk(terms, choice, root, kernel::refine(terms, *instances, root));
      ASSERT_TRUE(instances);
      const auto own = kernel::stage(terms, root, *instances, shared->lowered->kernel.n_outer);
      ASSERT_TRUE(own);
      EXPECT_EQ(kernel::text(shared->lowered->kernel), kernel::text(own->kernel)) << c.name;
      EXPECT_EQ(shared->lowered->classes, own->classes) << c.name;
      ASSERT_EQ(shared->lowered->origins.size(), own->origins.size()) << c.name;
      for (kernel::ParamId i : own->origins.ids()) {
        EXPECT_EQ(shared->lowered->origins[i].source, own->origins[i].source) << c.name;
        EXPECT_EQ(shared->lowered->origins[i].value, own->origins[i].value) << c.name;
      }
    }
  }
}

TEST(FindPlan, MoreEqualLayersAreNotLoweredAgain) {
  auto bert = [](int layers) {
    Graph graph;
    add_bert(graph, layers);
    return plan(graph);
  };
  const FoundPlan few = bert(4);
  const FoundPlan many = bert(12);
  EXPECT_EQ(few.report.distinct_kernels, many.report.distinct_kernels);
  // Every layer but those at the ends is planned like its neighbours.
  const FoundPlan more = bert(5);
  const int per_layer = more.plan.n_kernels() - few.plan.n_kernels();
  EXPECT_EQ(many.plan.n_kernels(), few.plan.n_kernels() + 8 * per_layer);
  const double layer = more.plan.model_seconds - few.plan.model_seconds;
  EXPECT_NEAR(many.plan.model_seconds, few.plan.model_seconds + 8 * layer, layer * 1e-6);
}

}  // namespace
}  // namespace luminal::search
