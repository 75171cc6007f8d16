// State that each run updates: a counter, and a cache that gets a row per step.
#include <luminal/luminal.h>

#include <iostream>
#include <vector>

using namespace luminal;

int main() {
  const int room = 4, width = 2;
  Graph graph;
  Tensor row = graph.input("row", {1, width});
  Tensor step = graph.state("step", {1}, DType::I64);
  Tensor cache = graph.state("cache", {room, width});

  Tensor filled = cache.index_put(step, row);
  graph.update(cache, filled);
  graph.update(step, step + 1);
  filled.sum(0).output("total");

  Executable exe = compile(graph);
  for (float value : {1.0f, 2.0f, 3.0f}) {
    exe.set("row", {{value, 10 * value}});
    exe.run();
    std::cout << "total " << exe.print("total") << "\n";
  }
  std::cout << "cache\n" << exe.print("cache") << "\n";
  if (exe.get<int64_t>("step")[0] != 3) return 1;
  if (exe.get<float>("total") != std::vector<float>{6, 60}) return 1;
  return exe.get<float>("cache") == std::vector<float>{1, 10, 2, 20, 3, 30, 0, 0} ? 0 : 1;
}
