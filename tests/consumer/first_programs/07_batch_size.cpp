// One executable for every batch size, which writes its output to the program's own memory.
#include <luminal/luminal.h>

#include <iostream>
#include <vector>

using namespace luminal;

int main() {
  Graph graph;
  Expr batch = Expr::var("batch", 1, 64);
  Tensor x = graph.input("x", {batch, 3});
  Tensor y = x.sum(1).output("y");
  std::cout << x << " gives " << y << "\n";

  Executable exe = compile(graph);
  std::vector<float> sums(64);
  exe.bind_output(y, sums);

  exe.set(x, {{1, 2, 3}, {4, 5, 6}});
  exe.run({{"batch", 2}});
  if (sums[0] != 6 || sums[1] != 15 || sums[2] != 0) return 1;

  std::vector<float> many(64 * 3, 1.0f);
  exe.set(x, many);
  exe.run({{"batch", 64}});
  return sums[63] == 3 && exe.view<float>(y).size() == 64 ? 0 : 1;
}
