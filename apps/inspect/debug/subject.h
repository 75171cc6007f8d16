// Subject: what is debugged: a graph with its options, sizes and data.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "luminal/driver/compile.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/graph/interpret/interpreter.h"

namespace luminal::debug {

struct Subject {
  std::string name;
  std::shared_ptr<const Graph> graph;  // of one variant
  std::string plan;                    // that variant; empty if there is only one
  CompileOptions options;              // without variants
  Bindings sizes;
  std::map<NodeId, TensorData> given;  // data besides the graph's own; states without data are 0
  // Injects a fault by changing the planning options.
  std::function<void(search::PlanningOptions&)> plant = nullptr;
  // Limit for the interpreter, in scalar operations; beyond it only some points are checked.
  double most_operations = 3e8;
};

// The data of a leaf, with resolved dims; every leaf has some.
TensorData leaf_data(const Subject& subject, NodeId leaf);
interpret::LeafData leaf_data(const Subject& subject);

search::PlanningOptions inspect_options(const Subject& subject);

// "s = 4, t = 1"
std::string text_of(const Bindings& sizes);
// The position of a flat index under these dims: "[1, 0, 3]".
std::string element_text(size_t flat, const std::vector<int64_t>& dims);

}  // namespace luminal::debug
