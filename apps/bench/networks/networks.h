// The seven networks of Tensat's evaluation (Yang et al., "Equality Saturation for Tensor Graph
// Superoptimization", MLSys 2021): f32, batch 1. Weights have the names of those in
// torch_networks.py, which has the same networks in PyTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/graph/tensor.h"

namespace luminal {

// Smaller than published, for tests.
struct NetworkSize {
  int64_t pixels = 0;    // height and width of images, tokens of texts; 0: as published
  int64_t narrower = 1;  // channels and features are divided by this
  int repeats = 100;     // at most so many equal parts in a row: blocks, cells, steps, layers
};

struct Network {
  std::string name;
  // The input is "x". Returns the result, which is the output "y".
  std::function<Tensor(Graph&, const NetworkSize&)> build;
};

const std::vector<Network>& networks();
// UserError that lists the names for an unknown one.
const Network& network(const std::string& name);

}  // namespace luminal
