// A multi-layer perceptron from a function that makes and returns the graph.
#include <luminal/luminal.h>

#include <iostream>
#include <vector>

using namespace luminal;

struct Mlp {
  Graph graph;
  Tensor x, y;
};

Mlp make_mlp(int in, int hidden, int out) {
  Graph graph;
  nn::Scope scope(graph);
  Tensor x = graph.input("x", {1, in});
  Tensor h = nn::linear(scope.child("fc1"), x, hidden).relu();
  Tensor y = nn::linear(scope.child("fc2"), h, out).output("y");
  return {std::move(graph), x, y};
}

int main() {
  Mlp mlp = make_mlp(2, 3, 1);
  Executable exe = compile(mlp.graph);
  exe.set("fc1.weight", {{1, -1}, {2, 0}, {0, 1}});
  exe.set("fc1.bias", {0, 0, -1});
  exe.set("fc2.weight", {{1, 10, 100}});
  exe.set("fc2.bias", {0.5});
  exe.set(mlp.x, {{3, 2}});
  exe.run();
  std::cout << mlp.y << " = " << exe.print(mlp.y) << "\n";
  return exe.get<float>(mlp.y) == std::vector<float>{1 + 60 + 100 + 0.5f} ? 0 : 1;
}
