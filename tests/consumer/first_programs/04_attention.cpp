// Attention written out, and the function for it: both give the same.
#include <luminal/luminal.h>

#include <cmath>
#include <iostream>
#include <vector>

using namespace luminal;

int main() {
  const int heads = 2, length = 5, size = 4;
  Graph graph;
  Tensor q = graph.input("q", {heads, length, size});
  Tensor k = graph.input("k", {heads, length, size});
  Tensor v = graph.input("v", {heads, length, size});

  Tensor scores = q.matmul(k.transpose(1, 2)) / std::sqrt(double(size));
  Tensor future = ones(graph, {length, length}, DType::Bool).triu(1);
  Tensor written_out = scores.masked_fill(future, -INFINITY).softmax(-1).matmul(v);
  written_out.output("written out");
  scaled_dot_product_attention(q, k, v, {.causal = true}).output("function");

  Executable exe = compile(graph);
  std::vector<float> values(heads * length * size);
  for (const char* name : {"q", "k", "v"}) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(float(i) * 1.7f + name[0]);
    exe.set(name, values);
  }
  exe.run();

  auto a = exe.get<float>("written out"), b = exe.get<float>("function");
  float worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  std::cout << written_out.shape() << ", largest difference " << worst << "\n";
  return worst < 1e-5f && a.size() == values.size() ? 0 : 1;
}
