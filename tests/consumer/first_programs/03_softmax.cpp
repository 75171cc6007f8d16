// Softmax, mean and standard deviation of rows, read without a copy.
#include <luminal/luminal.h>

#include <cmath>
#include <iostream>
#include <span>
#include <vector>

using namespace luminal;

int main() {
  Graph graph;
  Tensor x = graph.input("x", {2, 4});
  Tensor p = x.softmax(-1).output("p");
  Tensor spread = x.std(1).output("spread");
  Tensor first = p[0].sum().output("first");

  Executable exe = compile(graph);
  std::vector<std::vector<float>> rows = {{1, 2, 3, 4}, {0, 0, 0, 0}};
  exe.set(x, rows);
  exe.run();

  std::span<const float> values = exe.view<float>(p);
  std::cout << exe.print(p) << "\n";
  const float total = std::exp(1.0f) + std::exp(2.0f) + std::exp(3.0f) + std::exp(4.0f);
  if (std::abs(values[3] - std::exp(4.0f) / total) > 1e-6f) return 1;
  if (std::abs(values[4] - 0.25f) > 1e-6f) return 1;
  if (std::abs(exe.view<float>(spread)[0] - std::sqrt(5.0f / 3)) > 1e-6f) return 1;
  return std::abs(exe.get<float>(first)[0] - 1) < 1e-6f ? 0 : 1;
}
