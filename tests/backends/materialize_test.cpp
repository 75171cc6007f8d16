// Tensor::materialize: a boundary between kernels that no policy fuses away.
#include "against_interpreter.h"
#include "luminal/graph/edit.h"
#include "luminal/graph/text_form.h"

namespace luminal {
namespace {

size_t kernels_of(const Graph& graph, FusionPolicy fusion = FusionPolicy::Always) {
  CompileReport report;
  compile(graph,
          {.plan = {.fusion = fusion}, .storage = {.cache_folder = "none"}, .report = &report});
  return report.kernels.size();
}

TEST(Materialize, MakesABoundaryUnderEveryPolicy) {
  Graph graph;
  Tensor x = exp2(graph.input("x", {5, 17}));
  Tensor y = (x * 2.0f + 1.0f).output("y");
  EXPECT_EQ(kernels_of(graph), 1u);
  x.materialize();
  EXPECT_EQ(kernels_of(graph), 2u);
  EXPECT_EQ(kernels_of(graph, FusionPolicy::Modelled), 2u);
  Comparison comparison{graph, {y}, {.plan = {.fusion = FusionPolicy::Always}}};
  comparison.run({{}, {}});
}

TEST(Materialize, IsReadByAllWhoUseIt) {
  Graph graph;
  Tensor x = exp2(graph.input("x", {5, 17})).materialize();
  Tensor y = sum(x, {-1}).output("y");
  Tensor z = (x.transpose(0, 1) + 1.0f).output("z");
  Comparison comparison{graph, {y, z}, {.plan = {.fusion = FusionPolicy::Always}}};
  comparison.run({{}, {}});
  int exps = 0;
  for (const KernelReport& kernel : comparison.report.kernels) {
    exps += kernel.text.find("exp2") != std::string::npos;
  }
  EXPECT_EQ(exps, 1);
}

TEST(Materialize, StoresAViewAsItIsSeen) {
  Graph graph;
  Tensor x = graph.input("x", {5, 17}).transpose(0, 1).materialize();
  Tensor y = (x + 1.0f).output("y");
  Comparison comparison{graph, {y}, {.plan = {.fusion = FusionPolicy::Always}}};
  comparison.run({{}, {}});
  ASSERT_EQ(comparison.report.kernels.size(), 2u);
  EXPECT_NE(comparison.report.kernels[1].text.find("param p0 in f32[17, 5]"), std::string::npos);
}

TEST(Materialize, OfWhatNobodyNeedsComputesNothing) {
  Graph graph;
  Tensor x = graph.input("x", {5});
  exp2(x).materialize();
  (x + 1.0f).output("y");
  EXPECT_EQ(kernels_of(graph), 1u);
}

TEST(Materialize, SurvivesTextClonesAndEdits) {
  Graph graph;
  Tensor x = graph.input("x", {5});
  Tensor middle = exp2(x).materialize();
  (middle * 2.0f).output("y");
  EXPECT_NE(print_graph(graph).find("materialize %1\n"), std::string::npos);
  EXPECT_EQ(kernels_of(*parse_graph(print_graph(graph))), 2u);
  EXPECT_EQ(print_graph(*parse_graph(print_graph(graph))), print_graph(graph));
  EXPECT_EQ(kernels_of(*graph.clone()), 2u);

  Graph copy;
  const std::vector<NodeId> roots = {graph.outputs()[0].node};
  copy_subgraph(graph, roots, copy, {})[0].output("y");
  EXPECT_EQ(kernels_of(copy), 2u);

  replace_uses(middle, exp2(x + 1.0f));
  remove_dead(graph);
  EXPECT_EQ(kernels_of(graph), 2u);
}

}  // namespace
}  // namespace luminal
