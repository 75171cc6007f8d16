// CalibrationCase: the small graphs whose kernels a calibration of the cost model is fitted to.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "luminal/graph/graph.h"

namespace luminal {

struct CalibrationCase {
  std::string name;  // "exp2/bf16/4096": unique
  std::function<void(Graph&)> build;
};

// Kernels of all kinds, of sizes for each cache and for memory. In an order in which each stretch
// of the list has kernels of all kinds, so that a shorter time leaves out few of each.
std::vector<CalibrationCase> calibration_cases();

}  // namespace luminal
