// Backend: turns a graph into a program for one target.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/runtime/program.h"

namespace luminal::backends {

struct LoadOptions {
  bool float64 = false;  // compute every float as f64: the yardstick; outputs are f64 then
};

// How a graph's leaves and results map to a program's ports: leaves in order of creation, then one
// Output per node of `results`.
struct PortMap {
  std::vector<NodeId> leaves;
  std::vector<NodeId> results;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // The program that computes `ports.results` and the state updates of `graph`.
  virtual std::unique_ptr<runtime::Program> load(std::shared_ptr<const Graph> graph,
                                                 const PortMap& ports,
                                                 const LoadOptions& options) const = 0;
};

}  // namespace luminal::backends
