// State lives in the executable from run to run: a running mean, as a cache or an optimiser would.
#include <iostream>

#include "luminal/luminal.h"

int main() {
  using namespace luminal;
  Graph graph;
  Tensor x = graph.input("x", {2});
  Tensor count = graph.state("count", {});
  Tensor mean = graph.state("mean", {2});

  Tensor next_count = count + 1.0;
  Tensor next_mean = mean + (x - mean) / next_count;
  graph.update(count, next_count);
  graph.update(mean, next_mean);

  Executable exe = compile(graph);
  for (float value : {1.0f, 2.0f, 6.0f}) {
    exe.set(x, {value, 10 * value});
    exe.run();
    std::cout << "mean after " << exe.print(count) << ": " << exe.print(mean) << "\n";
  }

  Executable other = exe.clone();  // starts from the same state, then goes its own way
  other.set(x, {7.0f, 70.0f});
  other.run();
  std::cout << "the clone's mean " << exe.print(mean) << " became " << other.print(mean) << "\n";
}
