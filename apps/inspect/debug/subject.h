// Subject: what is debugged, a graph with its options, sizes and data.
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
  std::string plan;                    // that variant; empty where there is only one
  CompileOptions options;              // without variants
  Bindings sizes;
  std::map<NodeId, TensorData> given;  // data beside the graph's own; states without any are 0
  // What isn't as options say it: faults that were planted.
  std::function<void(search::PlanningOptions&)> plant = nullptr;
  // Scalar operations that interpreting may take; more is checked at some points only, and said so.
  double most_operations = 3e8;
};

// The data of a leaf, resolved; every leaf has some.
TensorData leaf_data(const Subject& subject, NodeId leaf);
interpret::LeafData leaf_data(const Subject& subject);

search::PlanningOptions inspect_options(const Subject& subject);

// "s = 4, t = 1"
std::string text_of(const Bindings& sizes);
// The position of a flat index under these dims: "[1, 0, 3]".
std::string element_text(size_t flat, const std::vector<int64_t>& dims);

}  // namespace luminal::debug
