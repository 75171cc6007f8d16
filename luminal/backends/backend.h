// Backend: turns a graph, or its plan, into a program for one target.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/kernel/planned_graph.h"
#include "luminal/runtime/program.h"

namespace luminal::backends {

struct LoadOptions {
  bool float64 = false;  // compute every float as f64: the yardstick; outputs are f64 then
  int threads = 1;
  std::string target;  // the instruction set to compile for; empty: this machine's best
  std::filesystem::path cache_folder;  // for compiled kernels; empty: none is kept
};

// How a graph's leaves and results map to a program's ports: leaves in order of creation, then one
// Output per node of `results`.
struct PortMap {
  std::vector<NodeId> leaves;
  std::vector<NodeId> results;
};

// The ports of a graph under a map; floats of results are f64 where that was asked for.
std::vector<runtime::Port> make_ports(const Graph& graph, const PortMap& map, bool float64);

struct LoadRequest {
  std::shared_ptr<const Graph> graph;
  PortMap ports;
  LoadOptions options;
  std::shared_ptr<const kernel::PlannedGraph> planned;  // for backends that run plans
};

// One compiled kernel, for reports and dumps.
struct KernelListing {
  double compile_ms = 0;
  bool from_cache = false;
  std::string text;                        // canonical
  std::function<std::string()> low_level;  // the target's IR, made when asked for
  std::function<std::string()> assembly;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Whether it runs plans of kernels, or the graph itself.
  virtual bool runs_plans() const = 0;
  // What it compiles for, in words for the report; empty where it compiles nothing. UserError for a
  // target that it doesn't have.
  virtual std::string target(const LoadOptions& options) const = 0;
  // The program that computes `ports.results` and the state updates of the graph; `listing`, if not
  // null, gets one entry per kernel of the plan, in order.
  virtual std::unique_ptr<runtime::Program> load(const LoadRequest& request,
                                                 std::vector<KernelListing>* listing) const = 0;
};

}  // namespace luminal::backends
