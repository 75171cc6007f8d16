// Options of a compilation: a measured search with a budget, threads, sizes, and a report.
#include <luminal/luminal.h>

#include <iostream>
#include <vector>

using namespace luminal;

int main() {
  Graph graph;
  Expr s = Expr::var("s", 1, 128);
  Tensor x = graph.input("x", {s, 16});
  Tensor w = graph.weight("w", {16, 16}).set(std::vector<float>(256, 0.5f));
  Tensor y = gelu(x.matmul(w)).sum(1).output("y");

  CompileReport report;
  CompileOptions options;
  options.backend.threads = 1;
  options.search = {.mode = SearchMode::Measured, .seconds = 1, .candidates = 4};
  options.plan.typical_sizes = {{"s", 32}};
  options.storage.cache_folder = "none";
  options.storage.records = "none";
  options.report = &report;
  Executable exe = compile(graph, options);
  std::cout << report.kernels.size() << " kernels\n";

  exe.set(x, std::vector<float>(32, 1.0f));
  exe.run({{"s", 2}});
  // gelu(8) is 8 up to rounding.
  const std::vector<float> sums = exe.get<float>(y);
  return !report.kernels.empty() && sums.size() == 2 && sums[1] > 127.9f && sums[1] < 128.1f ? 0
                                                                                             : 1;
}
