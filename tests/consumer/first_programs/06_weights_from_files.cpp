// Weights from a .npy file and from a safetensors file.
#include <luminal/luminal.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

using namespace luminal;

// As numpy.save("w.npy", numpy.array([[1, 2], [3, 4]], dtype="float32")) writes it.
void write_npy(const std::string& path) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  header.resize(117, ' ');
  header += "\n";
  const float values[] = {1, 2, 3, 4};
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00\x76\x00", 10);
  file << header;
  file.write(reinterpret_cast<const char*>(values), sizeof values);
}

int main() {
  const auto folder = std::filesystem::temp_directory_path() / "luminal_first_programs_06";
  std::filesystem::create_directories(folder);
  const std::string npy = folder / "w.npy", tensors = folder / "b.safetensors";
  write_npy(npy);
  write_safetensors(tensors, {{"layer.b", NestedList{10, 20}.data(DType::F32)}});

  Graph graph;
  Tensor x = graph.input("x", {2});
  Tensor w = graph.weight("w", {2, 2}).set(read_npy(npy));
  Tensor b = graph.weight("layer.b", {2});
  load_weights(graph, SafeTensors::open(tensors));
  (w.matmul(x) + b).output("y");

  Executable exe = compile(graph);
  exe.set("x", {1, 1});
  exe.run();
  std::cout << exe.print("y") << "\n";
  const bool right = exe.get<float>("y") == std::vector<float>{13, 27};
  std::filesystem::remove_all(folder);
  return right ? 0 : 1;
}
