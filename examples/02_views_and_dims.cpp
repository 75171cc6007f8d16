// Views change indices, not data; a dim may be a variable that each run chooses anew.
#include <iostream>

#include "luminal/luminal.h"

int main() {
  using namespace luminal;
  Graph graph;
  Expr s = Expr::var("s", 1, 100);
  Tensor x = graph.input("x", {s, 4});

  Tensor pairs = x.reshape({s, 2, 2}).transpose(1, 2).name("pairs");
  Tensor last = x.slice(1, -2, 4).output("last");
  Tensor padded = pad_axis(x, 0, {.before = 1}).output("padded");
  pairs.output("pairs");
  std::cout << "pairs has dims " << text(pairs.dims()) << ", padded " << text(padded.dims())
            << "\n";

  Executable exe = compile(graph);
  exe.set(x, {{1, 2, 3, 4}, {5, 6, 7, 8}});
  exe.run({{"s", 2}});
  std::cout << "pairs\n" << exe.print(pairs) << "\n";
  std::cout << "padded\n" << exe.print(padded) << "\n";

  exe.set(x, {{9, 10, 11, 12}});
  exe.run({{"s", 1}});
  std::cout << "last, another size\n" << exe.print(last) << "\n";
}
