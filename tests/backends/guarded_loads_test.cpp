// Padding on the cpu: reads that a select drops are masked vector loads, right at every edge.
#include "against_interpreter.h"

namespace luminal {
namespace {

constexpr DType kPaddedDTypes[] = {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64,
                                   DType::I32, DType::I8,  DType::U8,  DType::Bool};

TEST(GuardedLoads, AreRightAtOddSizesInEveryDType) {
  for (DType dtype : kPaddedDTypes) {
    for (int64_t size : {1, 3, 15, 16, 17, 4097}) {
      for (const Padding& padding : {Padding{1, 1}, Padding{0, 5}, Padding{17, 0}}) {
        SCOPED_TRACE(std::string(name(dtype)) + " " + std::to_string(size) + " after " +
                     padding.before.text());
        Graph graph;
        const Tensor x = graph.input("x", {3, size}, dtype);
        const Tensor y = pad_axis(x, 1, padding, 1).output("y");
        const Tensor z = pad(x, {{2, 1}, padding}, 0).output("z");
        Comparison{graph, {y, z}}.run({{}, {}});
      }
    }
  }
}

TEST(GuardedLoads, OfADynamicDimAreRightRunAfterRun) {
  Graph graph;
  const Expr n = Expr::var("n", 1, 5000);
  const Tensor x = graph.input("x", {2, n});
  const Tensor y = pad_axis(x, 1, {2, 1}).output("y");
  Comparison{graph, {y}}.run({{{"n", 17}}, {{"n", 4097}}, {{"n", 1}}, {{"n", 16}}});
}

TEST(GuardedLoads, OfWindowsAreRight) {
  for (DType dtype : {DType::F32, DType::BF16}) {
    for (int64_t size : {5, 16, 28, 35}) {
      for (int stride : {1, 2}) {
        Graph graph;
        const Tensor x = graph.input("x", {1, 8, size, size}, dtype);
        const Tensor depthwise = graph.weight("d", {8, 1, 3, 3}, dtype);
        const Tensor grouped = graph.weight("g", {16, 2, 5, 5}, dtype);
        const Tensor dense = graph.weight("w", {16, 8, 3, 3}, dtype);
        const auto conv = [&](const Tensor& w, int padding, int groups) {
          return conv2d(x, w, std::nullopt,
                        {.stride = stride, .padding = padding, .groups = groups});
        };
        const std::vector<Tensor> results = {
            conv(depthwise, 1, 8).output("depthwise"), conv(grouped, 2, 4).output("grouped"),
            conv(dense, 1, 1).output("dense"),
            max_pool2d(x, 3, {.stride = stride, .padding = 1}).output("pool")};
        Comparison{graph, results}.run({{}, {}});
      }
    }
  }
}

// A value that a select drops may also say which row to read: there it counts everywhere.
TEST(GuardedLoads, ThatAreRowsToo) {
  for (int64_t size : {3, 16, 35}) {
    Graph graph;
    const Tensor ids = graph.input("ids", {size}, DType::I64);
    const Tensor shifted = pad_axis(ids, 0, {1, 0}).narrow(0, 0, size).cast(DType::F32);
    const Tensor row = prim::gather(graph.input("table", {7}), ids.roll(1, 0));
    const Tensor y = (shifted + row).output("y");
    Comparison comparison{graph, {y}, {.plan = {.fusion = FusionPolicy::Always}}, {{"ids", 7}}};
    comparison.run({{}, {}});
  }
}

// Lanes beside each other are read at once: no gathers.
TEST(GuardedLoads, HaveNoSlowPath) {
  Graph graph;
  const Tensor x = graph.input("x", {1, 8, 28, 28});
  const std::vector<Tensor> results = {max_pool2d(x, 3, {.stride = 1, .padding = 1}).output("pool"),
                                       pad(x, {{0, 0}, {0, 0}, {1, 1}, {3, 2}}).output("pad")};
  Comparison comparison{graph, results};
  comparison.run({{}});
  for (const KernelReport& kernel : comparison.report.kernels) {
    EXPECT_TRUE(kernel.slow_paths.empty()) << kernel.slow_paths.front();
  }
}

}  // namespace
}  // namespace luminal
