// A program outside the project: builds a graph, runs it and checks the result.
#include <luminal/luminal.h>

#include <cmath>
#include <iostream>

int main() {
  using namespace luminal;
  Graph graph;
  Tensor x = graph.input("x", {2, 2});
  Tensor y = (x + x).output("y");
  Executable exe = compile(graph);
  exe.set(x, {{1.0f, 2.0f}, {3.0f, 4.0f}});
  exe.run();
  const auto values = exe.get<float>(y);
  if (values.size() != 4 || std::abs(values[3] - 8.0f) > 0.0f) return 1;
  try {
    exe.set(x, {{1.0f}});
    return 1;  // an error of the library must reach its user as its own type
  } catch (const UserError& error) {
    std::cout << "luminal " << LUMINAL_VERSION << " works\n";
  }
}
