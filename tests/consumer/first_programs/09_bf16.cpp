// Weights and inputs in bf16: given as float and rounded, read back as float.
#include <luminal/luminal.h>

#include <iostream>
#include <vector>

using namespace luminal;

int main() {
  Graph graph;
  Tensor x = graph.input("x", {2}, DType::BF16);
  Tensor w = graph.weight("w", {2, 2}, DType::BF16);
  Tensor y = x.matmul(w).output("y");
  Tensor wide = y.cast(DType::F32).output("wide");
  std::cout << "y is " << y.dtype() << ", wide is " << wide.dtype() << "\n";

  Executable exe = compile(graph);
  exe.set(x, std::vector<float>{1, 1.001f});  // 1.001 is 1 in bf16
  exe.set(w, {{1, 256}, {2, 1}});
  exe.run();
  std::cout << exe.print(y) << "\n";
  // 257 has nine significant bits, bf16 holds eight.
  const std::vector<float> expected = {3, 256};
  return exe.get<float>(y) == expected && exe.get<float>(wide) == expected ? 0 : 1;
}
