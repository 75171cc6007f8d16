// A linear layer: y = x · w + b, addressed by names.
#include <luminal/luminal.h>

#include <array>
#include <iostream>
#include <vector>

using namespace luminal;

int main() {
  Graph graph;
  Tensor x = graph.input("x", {2, 3});
  Tensor w = graph.weight("w", {3, 2});
  Tensor b = graph.weight("b", {2});
  (x.matmul(w) + b).output("y");

  Executable exe = compile(graph);
  std::vector<float> inputs = {1, 2, 3, 4, 5, 6};
  std::array<float, 6> weights = {1, 0, 0, 1, 1, 1};
  const float bias[] = {10, 20};
  exe.set("x", inputs);
  exe.set("w", weights);
  exe.set("b", bias, 2);
  exe.run();

  std::vector<float> y = exe.get<float>("y");
  std::cout << exe.print("y") << "\n";
  return y == std::vector<float>{14, 25, 20, 31} ? 0 : 1;
}
