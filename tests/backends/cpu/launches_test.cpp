// How many launches the blocks of well-known models take in each run, read off the plan. What is
// computed of weights alone, panels among it, runs once and isn't counted.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "luminal/backends/cpu/run_plan.h"
#include "luminal/backends/registry.h"
#include "luminal/driver/planning.h"
#include "luminal/luminal.h"
#include "tests/search/llama_blocks.h"

namespace luminal::backends::cpu {
namespace {

struct Launches {
  size_t count = 0;
  std::string text;  // a line for each
};

Launches launches_of(const Graph& graph, const Bindings& typical_sizes = {}) {
  std::shared_ptr<const Graph> snapshot = graph.clone();
  LoadRequest request{.graph = snapshot, .ports = {}, .options = {}, .planned = {}};
  request.ports.leaves = snapshot->leaves();
  for (const Output& output : snapshot->outputs()) request.ports.results.push_back(output.node);
  CompileReport report;
  request.planned = plan_graph(*snapshot, roots(*snapshot), {.typical_sizes = typical_sizes},
                               report, find_backend("cpu").packing({}));
  const RunPlan plan = make_run_plan(request);
  Launches launches{.count = plan.run_steps.size() + plan.copies.size(), .text = {}};
  for (const RunStep& step : plan.run_steps) {
    if (step.kernel < 0) {
      launches.text += "on the host\n";
      continue;
    }
    const KernelReport& kernel = report.kernels[static_cast<size_t>(step.kernel)];
    launches.text +=
        fmt::format("{} to {}: {}\n", kernel.name, kernel.result, fmt::join(kernel.ops, ", "));
  }
  return launches;
}

// Llama's of a billion weights: 32 heads of 64, 8 of them for keys and values.
TEST(Launches, ALlamaBlockTakesAtMostTenForOneToken) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    Graph graph;
    Tensor x = graph.input("x", {1, Expr::var("s", 1, 4096), 2048}, dtype);
    search::llama_block(nn::Scope(graph, "", dtype), x, 32, 8, 8192).output("y");
    const Launches launches = launches_of(graph, {{"s", 1}});
    EXPECT_LE(launches.count, 10u) << name(dtype) << "\n" << launches.text;
  }
}

// The first of ResNet-18.
TEST(Launches, AResNetBasicBlockTakesAtMostFour) {
  Graph graph;
  Tensor x = graph.input("x", {1, 64, 56, 56});
  const nn::Scope scope(graph);
  auto convolve = [&](const char* conv, const char* norm, const Tensor& in) {
    const Tensor y = nn::conv2d(scope.child(conv), in, 64, 3, {.padding = 1, .bias = false});
    return nn::batch_norm(scope.child(norm), y);
  };
  const Tensor h = relu(convolve("conv1", "bn1", x));
  relu(x + convolve("conv2", "bn2", h)).output("y");
  const Launches launches = launches_of(graph);
  EXPECT_LE(launches.count, 4u) << launches.text;
}

}  // namespace
}  // namespace luminal::backends::cpu
