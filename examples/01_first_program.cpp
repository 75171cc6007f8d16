// A linear layer and a softmax over a batch whose size is chosen at run time.
#include <iostream>

#include "luminal/luminal.h"

int main() {
  using namespace luminal;
  Graph graph;
  Expr batch = Expr::var("batch", 1, 64);
  Tensor x = graph.input("x", {batch, 3});
  Tensor w = graph.weight("w", {3, 2});
  Tensor y = softmax(matmul(x, w), -1).output("y");

  Executable exe = compile(graph);
  exe.set(w, {{0.1f, 0.2f}, {0.3f, 0.4f}, {0.5f, 0.6f}});
  exe.set(x, {{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});
  exe.run({{"batch", 2}});
  std::cout << exe.print(y) << "\n";
}
