// Large graphs: kernels stay of a bounded size, what repeats is planned and compiled once, and
// nothing grows faster than the graph. Counts, not times: they are the same on every machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "luminal/driver/plan/planning.h"
#include "luminal/graph/primitives.h"
#include "luminal/graph/traverse.h"
#include "luminal/kernel/plan/verify_plan.h"
#include "luminal/luminal.h"
#include "luminal/search/cuts/find_plan.h"
#include "tests/support/random_source.h"

namespace luminal {
namespace {

struct Growth {
  size_t kernels = 0;
  size_t distinct = 0;
  size_t longest = 0;  // instructions of the largest kernel
  int lowered = 0;     // kernels that the search looked at
};

Growth planned(const Graph& graph) {
  CompileReport report;
  CompileOptions options;
  options.report = &report;
  const auto plan = plan_graph(graph, roots(graph), options, report, std::nullopt);
  EXPECT_EQ(kernel::verify_plan(*plan, graph, roots(graph)), "");
  Growth growth{.kernels = report.kernels.size(), .lowered = report.search_kernels};
  std::set<std::string> texts;
  for (const auto& step : plan->plan.steps) {
    const kernel::Kernel& kernel = std::get<kernel::KernelStep>(step).lowered.kernel;
    size_t length = 0;
    for (const kernel::Stage& stage : kernel.stages) length += stage.body.size();
    growth.longest = std::max(growth.longest, length);
    texts.insert(kernel::text(kernel));
  }
  growth.distinct = texts.size();
  return growth;
}

// x, and one op after the other of it: what `next` says, from 0 to 5.
template <typename Next>
void add_chain(Graph& graph, int ops, Expr size, Next next) {
  Tensor x = graph.input("x", {size});
  Tensor a = graph.input("a", {size}), b = graph.input("b", {size});
  for (int i = 0; i < ops; ++i) {
    switch (next(i)) {
      case 0:
        x = x * a;
        break;
      case 1:
        x = x + b;
        break;
      case 2:
        x = sin(x);
        break;
      case 3:
        x = exp2(sin(x));
        ++i;
        break;
      case 4:
        x = where(prim::less_than(x, b), a, x);
        ++i;
        break;
      default:
        x = x + a;
        break;
    }
  }
  x.output("y");
}

void add_random_chain(Graph& graph, int ops, Expr size) {
  tests::RandomSource random(11);
  add_chain(graph, ops, size, [&](int) { return random.below(6); });
}

void add_small_layers(Graph& graph, int layers) {
  Tensor x = graph.input("x", {8, 32});
  for (int i = 0; i < layers; ++i) {
    Tensor w = graph.weight("w" + std::to_string(i), {32});
    x = x + relu(x * w);
  }
  x.output("y");
}

TEST(Growth, AChainWithoutPeriodIsCutIntoBoundedKernels) {
  Graph small, large;
  add_random_chain(small, 2000, 64);
  add_random_chain(large, 4000, 64);
  const Growth of_small = planned(small), of_large = planned(large);
  const size_t most = search::SearchOptions().chain_ops;
  EXPECT_LE(of_large.longest, most + 3);  // the ops, and three loads
  EXPECT_LE(of_large.kernels, 2 * 4000 / most + 1);
  EXPECT_LE(of_large.kernels, 2 * of_small.kernels + 1);
  EXPECT_LE(of_large.lowered, 2 * of_small.lowered + 1);
}

TEST(Growth, AChainThatRepeatsHasFewKernels) {
  Graph graph;
  add_chain(graph, 10000, 64, [](int i) { return i % 3; });
  const Growth growth = planned(graph);
  EXPECT_LE(growth.distinct, 4u);
  EXPECT_LE(growth.lowered, 400);
}

TEST(Growth, ManySmallLayersArePlannedAsAFew) {
  Graph few, many;
  add_small_layers(few, 200);
  add_small_layers(many, 800);
  const Growth of_few = planned(few), of_many = planned(many);
  EXPECT_LE(of_many.distinct, of_few.distinct + 1);  // what is left of a last trip
  EXPECT_LE(of_many.lowered, 2 * of_few.lowered);
  EXPECT_LE(of_many.kernels, 4 * of_few.kernels + 4);
}

TEST(Growth, ATreeAndManyReadersAreCutToo) {
  Graph tree;
  std::vector<Tensor> terms;
  for (int i = 0; i < 1000; ++i) terms.push_back(tree.input("x" + std::to_string(i), {64}));
  while (terms.size() > 1) {
    std::vector<Tensor> sums;
    for (size_t i = 0; i + 1 < terms.size(); i += 2) sums.push_back(terms[i] + terms[i + 1]);
    if (terms.size() % 2 == 1) sums.push_back(terms.back());
    terms = std::move(sums);
  }
  terms.front().output("y");
  EXPECT_LE(planned(tree).longest, 2 * search::SearchOptions().chain_ops + 16);

  Graph readers;
  Tensor x = exp2(readers.input("x", {64}));
  for (int i = 0; i < 700; ++i) (x * static_cast<double>(i + 2)).output("y" + std::to_string(i));
  EXPECT_LE(planned(readers).longest, 600u);
}

// Pieces, calls of shared functions, masked loops and grouped layers compute what the graph says.
void expect_as_interpreted(Graph& graph, float tolerance) {
  std::vector<std::vector<float>> results;
  for (const char* backend : {"cpu", "interp"}) {
    Executable executable =
        compile(graph, {.backend = {.name = backend}, .storage = {.cache_folder = "none"}});
    tests::RandomSource random(3);
    for (NodeId leaf : graph.leaves()) {
      const Node& node = graph.node(leaf);
      size_t count = 1;
      for (Expr dim : node.dims) count *= static_cast<size_t>(dim.to_int().value());
      std::vector<float> data(count);
      for (float& value : data) value = static_cast<float>(random.between(-500, 500)) / 1000;
      executable.set(graph.tensor(leaf), data);
    }
    executable.run();
    results.push_back(executable.get<float>(*graph.find("y")));
  }
  ASSERT_EQ(results[0].size(), results[1].size());
  for (size_t i = 0; i < results[0].size(); ++i) {
    if (std::isnan(results[1][i])) {
      EXPECT_TRUE(std::isnan(results[0][i])) << i;
      continue;
    }
    EXPECT_NEAR(results[0][i], results[1][i], tolerance * (1 + std::abs(results[1][i]))) << i;
  }
}

TEST(Growth, LongChainsComputeWhatTheGraphSays) {
  // Sines forget what rounding did before them only slowly: the error of a run of ops is small.
  Graph chain;
  add_chain(chain, 700, 37, [](int i) { return i * i % 7 % 5; });
  expect_as_interpreted(chain, 1e-3F);
  Graph layers;
  add_small_layers(layers, 150);
  expect_as_interpreted(layers, 1e-3F);
}

// Nothing may call itself once per node.
TEST(Growth, AVeryDeepGraphFitsTheStack) {
  Graph graph;
  add_chain(graph, 60000, 1, [](int i) { return i % 2; });
  EXPECT_GT(graph.size(), 60000u);
  Executable executable = compile(graph, {.backend = {.name = "interp"}});
  for (NodeId leaf : graph.leaves()) {
    executable.set(graph.tensor(leaf), std::vector<float>{0.5F});
  }
  executable.run();
  EXPECT_TRUE(std::isfinite(executable.get<float>(*graph.find("y")).front()));
}

// Seen through any map it is itself: views of views of it don't end on their own.
TEST(Growth, AViewOfAConstantEnds) {
  const Expr s = Expr::var("s", 0, 64), t = Expr::var("t", 1, 1 << 30);
  for (const Expr& value : {Expr(6) >= s, s * 3, Expr::index(0, t) % 2}) {
    Graph graph;
    const Tensor same = prim::iota(graph, value, {t}, DType::I32);
    const Expr position = (t / 17 * (Expr::index(0, t) + 20)) % t;
    Tensor y = prim::view(same, IndexMap({t}, {t}, {position}));
    prim::view(y, IndexMap({t}, {t}, {position})).output("y");
    EXPECT_EQ(planned(graph).kernels, 1u);
  }
}

}  // namespace
}  // namespace luminal
