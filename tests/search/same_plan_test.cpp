// The same graph gives the same plan, byte for byte: again in one process, and in another, where
// every address is a different one.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "luminal/graph/primitives.h"
#include "luminal/llm/models/bert/bert.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

// Kernels in order with what the plan says of each.
std::string plan_of(const Graph& graph, FusionPolicy fusion) {
  CompileReport report;
  EXPECT_THROW(compile(graph, {.plan = {.fusion = fusion},
                               .storage = {.cache_folder = "none"},
                               .inspect = {.stop_after = "plan"},
                               .report = &report}),
               CompileStopped);
  std::string text;
  for (const KernelReport& kernel : report.kernels) {
    text += kernel.name + " " + kernel.result + "\n" + kernel.text;
    for (const std::string& op : kernel.ops) text += op + "\n";
    for (const std::string& rule : kernel.rules) text += rule + "\n";
  }
  for (const StoredReport& stored : report.stored) text += stored.value + stored.because + "\n";
  for (const std::string& note : report.notes) text += note + "\n";
  return text;
}

// Two layers with a dynamic length, and beside them what they don't have: scans, rows by an index
// that are read and stored, joins and several results of one input.
std::unique_ptr<Graph> mixed_graph() {
  auto graph = std::make_unique<Graph>();
  const Expr length = Expr::var("s", 1, 512);
  const Tensor ids = graph->input("ids", {length}, DType::I64);
  const Tensor states = llm::build_bert(nn::Scope(*graph), ids,
                                        {.features = 64, .hidden = 128, .layers = 2, .heads = 4})
                            .output("states");
  const Tensor x = graph->input("x", {48, 64});
  const Tensor index = graph->input("index", {7}, DType::I64);
  const Tensor rows = prim::gather(exp(x), index);
  prim::scan(x, Reducer::Sum).output("scanned");
  prim::scatter(x, index, rows * 2.0f, Reducer::Max).output("stored");
  concat({rows, sin(x), softmax(x, -1)}, 0).output("joined");
  mean(x, {-1}).output("mean");
  var(x, {-1}).output("var");
  sum(states, {0}).output("total");
  return graph;
}

std::string all_plans() {
  const std::unique_ptr<Graph> graph = mixed_graph();
  std::string text;
  for (FusionPolicy fusion : {FusionPolicy::Modelled, FusionPolicy::Always, FusionPolicy::Never}) {
    text += plan_of(*graph, fusion);
  }
  return text;
}

TEST(SamePlan, TwiceInAProcess) {
  const std::unique_ptr<Graph> graph = mixed_graph();
  const std::string first = plan_of(*graph, FusionPolicy::Modelled);
  EXPECT_EQ(first, plan_of(*graph, FusionPolicy::Modelled));
  EXPECT_EQ(first, plan_of(*mixed_graph(), FusionPolicy::Modelled));
  EXPECT_NE(first, plan_of(*graph, FusionPolicy::Never)) << "the text doesn't tell plans apart";
}

std::string plans_of_another_process() {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  std::FILE* pipe = popen(("'" + program + "' --print-plans").c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  if (pipe == nullptr) return "";
  std::string text;
  std::array<char, 4096> part;
  for (size_t size = 0; (size = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
    text.append(part.data(), size);
  }
  EXPECT_EQ(pclose(pipe), 0);
  return text;
}

TEST(SamePlan, InAnotherProcess) {
  const std::string here = all_plans();
  EXPECT_GT(here.size(), 1000u);
  EXPECT_EQ(here, plans_of_another_process());
}

}  // namespace
}  // namespace luminal

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--print-plans") == 0) {
    std::cout << luminal::all_plans();
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
