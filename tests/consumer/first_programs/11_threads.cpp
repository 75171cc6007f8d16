// Clones of one executable, each on a thread of its own: they share code and weights.
#include <luminal/luminal.h>

#include <iostream>
#include <thread>
#include <vector>

using namespace luminal;

int main() {
  Graph graph;
  Tensor x = graph.input("x", {4});
  Tensor w = graph.weight("w", {4}).set({1, 2, 3, 4});
  Tensor y = (x * w).sum().output("y");
  const Executable exe = compile(graph, {.backend = {.threads = 1}});

  std::vector<float> results(8);
  std::vector<std::thread> threads;
  for (size_t k = 0; k < results.size(); ++k) {
    threads.emplace_back([&, k] {
      Executable own = exe.clone();
      own.set(x, std::vector<float>(4, float(k)));
      own.run();
      results[k] = own.get<float>(y)[0];
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (float result : results) std::cout << result << " ";
  std::cout << "\n";
  for (size_t k = 0; k < results.size(); ++k) {
    if (results[k] != 10.0f * float(k)) return 1;
  }
}
