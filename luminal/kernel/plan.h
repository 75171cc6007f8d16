// Plan: what runs, in order: kernels, and host steps for what no kernel computes.
#pragma once

#include <variant>
#include <vector>

#include "luminal/kernel/stage.h"

namespace luminal::kernel {

struct KernelStep {
  LoweredKernel lowered;
  double model_seconds = 0;  // by the roofline, at the representative sizes
};

// A node of the graph that the host computes: source `source` of the term graph is its result.
struct HostStep {
  int source;
};

struct Plan {
  std::vector<std::variant<KernelStep, HostStep>> steps;
  double model_seconds = 0;

  int n_kernels() const {
    int count = 0;
    for (const auto& step : steps) count += std::holds_alternative<KernelStep>(step);
    return count;
  }
};

}  // namespace luminal::kernel
