// Looking inside: the graph as text, values printed where they arise, steps with their shapes.
#include <iostream>

#include "luminal/luminal.h"

int main() {
  using namespace luminal;
  Graph graph;
  Tensor x = graph.input("x", {2, 4});
  Tensor centred = (x - mean(x, 1, {.keepdim = true})).name("centred").print("centred");
  sum(centred * centred, 1).output("spread");

  verify(graph);
  std::cout << print_graph(graph);

  Pattern square = Pattern::op(Op::Mul, {Pattern::any("v"), Pattern::any("v")});
  for (const Match& match : find(graph, square)) {
    std::cout << graph.describe(match.root) << " squares " << graph.describe(match.bound.at("v"))
              << "\n";
  }

  Executable exe = compile(graph);
  exe.set(x, {{1, 2, 3, 6}, {4, 6, 8, 10}});
  exe.run();
  std::cout << exe.print(*graph.find("spread")) << "\n";

  try {
    matmul(x, x);
  } catch (const UserError& error) {
    std::cout << "an error says the way out: " << error.what() << "\n";
  }
}
