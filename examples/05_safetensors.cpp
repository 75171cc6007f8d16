// Weights by PyTorch's names: a small network written to a safetensors file and loaded from it.
#include <filesystem>
#include <iostream>

#include "luminal/luminal.h"

using namespace luminal;

Tensor network(const nn::Scope& scope, const Tensor& x) {
  auto fc = [](int64_t out) {
    return [out](const nn::Scope& s, const Tensor& in) { return nn::linear(s, in, out); };
  };
  return nn::sequential(scope, x, {fc(3), relu, fc(1)});
}

int main() {
  const std::string path =
      (std::filesystem::temp_directory_path() / "luminal_example.safetensors").string();
  // As torch.save of a Sequential(Linear(2, 3), ReLU(), Linear(3, 1)) would name them.
  write_safetensors(path, {{"0.weight", NestedList{{1, 0}, {0, 1}, {1, 1}}.data(DType::F32)},
                           {"0.bias", NestedList{0, 0, -4}.data(DType::F32)},
                           {"2.weight", NestedList{{1, 10, 100}}.data(DType::F32)},
                           {"2.bias", NestedList{0.5}.data(DType::F32)}});

  Graph graph;
  Tensor x = graph.input("x", {Expr::var("n", 1, 16), 2});
  Tensor y = network(nn::Scope(graph), x).output("y");
  LoadReport report = load_weights(graph, SafeTensors::open(path));
  std::cout << report.loaded.size() << " weights loaded\n";

  Executable exe = compile(graph);
  exe.set(x, {{1, 2}, {3, -1}, {4, 4}});
  exe.run({{"n", 3}});
  std::cout << exe.print(y) << "\n";
  std::filesystem::remove(path);
}
