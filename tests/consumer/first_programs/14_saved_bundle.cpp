// A compiled graph as a file: what loads it doesn't compile.
#include <luminal/luminal.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

using namespace luminal;

int main() {
  const std::string path =
      (std::filesystem::temp_directory_path() / "luminal_first_programs_14.bundle").string();
  {
    Graph graph;
    Tensor x = graph.input("x", {Expr::var("batch", 1, 16), 2});
    Tensor w = graph.weight("w", {2});
    (x * w).sum(-1).output("y");
    save_bundle(path, graph);
  }

  LoadedBundle bundle = open_bundle(path);
  Executable& exe = bundle.executable;
  exe.set("w", {1, 10});
  exe.set("x", {{1, 2}, {3, 4}});
  exe.run({{"batch", 2}});
  std::cout << exe.print("y") << ", compiled by luminal " << bundle.made_by << "\n";
  std::filesystem::remove(path);
  return exe.get<float>("y") == std::vector<float>{21, 43} ? 0 : 1;
}
