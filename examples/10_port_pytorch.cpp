// A PyTorch model ported: the same layers by the same names, its weights from a file, and its
// values compared with PyTorch's. port_pytorch.py writes the files. Usage: 10_port_pytorch FOLDER
#include <iostream>
#include <string>

#include "luminal/luminal.h"

using namespace luminal;

nn::Layer linear(int64_t out) {
  return [out](const nn::Scope& scope, const Tensor& x) { return nn::linear(scope, x, out); };
}

Tensor tagger(const nn::Scope& scope, const Tensor& ids, const std::string& folder) {
  Tensor x = nn::embedding(scope.child("embed"), ids, 100, 16);
  x = x + nn::multi_head_attention(scope.child("attend"), x, x, x, 2);
  x = nn::layer_norm(scope.child("norm"), x);
  x.name("normed").diff(folder + "/normed.npy");
  auto exact_gelu = [](const Tensor& t) { return gelu(t); };
  return nn::sequential(scope.child("head"), x, {linear(32), exact_gelu, linear(5)});
}

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cout << "give the folder that port_pytorch.py wrote\n";
    return 0;
  }
  const std::string folder = argv[1];
  try {
    Graph graph;
    Tensor ids = graph.input("ids", {Expr::var("n", 1, 8), Expr::var("s", 1, 64)}, DType::I64);
    Tensor scores = tagger(nn::Scope(graph), ids, folder).output("scores");
    scores.diff(folder + "/scores.npy");
    LoadReport loaded = load_weights(graph, SafeTensors::open(folder + "/model.safetensors"));
    std::cout << loaded.loaded.size() << " weights loaded, " << loaded.unexpected.size()
              << " of the file left over\n";

    Executable exe = compile(graph);
    exe.set(ids, SafeTensors::open(folder + "/input.safetensors").data("ids"));
    exe.run({{"n", 2}, {"s", 7}}, {.check_kernels = true});
  } catch (const UserError& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
