// Everything that prints: dtypes, dims, tensors, their values, and errors.
#include <luminal/luminal.h>

#include <iostream>
#include <sstream>

using namespace luminal;
using namespace std;

int main() {
  Graph graph;
  Tensor x = graph.input("x", {Expr::var("n", 1, 8), 2});
  Tensor y = (x * 2.0f).name("twice").output("y");

  ostringstream out;
  out << x.dtype() << " " << x.shape() << " " << x.shape()[0] << "\n" << x << "\n" << y << "\n";
  Executable exe = compile(graph);
  exe.set(x, {{1, 2}, {3, 4}});
  exe.run({{"n", 2}});
  out << exe.print(y) << "\n" << exe.get_data(x) << "\n";
  try {
    exe.run({{"m", 2}});
  } catch (const exception& error) {
    out << error.what() << "\n";
  }
  cout << out.str();
  return out.str() ==
                 "f32 [n, 2] n\n"
                 "'x' f32[n, 2]\n"
                 "'twice' f32[n, 2]\n"
                 "[[2, 4],\n [6, 8]]\n"
                 "[[1, 2],\n [3, 4]]\n"
                 "run: the graph has no variable 'm'; it has: n (1 … 8); bind only these\n"
             ? 0
             : 1;
}
