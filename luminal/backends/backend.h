// Backend: turns a graph, or its plan, into a program for one target.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/backends/library_policy.h"
#include "luminal/graph/graph.h"
#include "luminal/kernel/plan/planned_graph.h"
#include "luminal/kernel/recognise/panels.h"
#include "luminal/runtime/program.h"
#include "luminal/runtime/thread_speed.h"

namespace luminal::backends {

struct LoadOptions {
  bool float64 = false;  // compute every float as f64: the yardstick; outputs are f64 then
  int threads = 1;
  std::string target;  // the instruction set to compile for; empty: this machine's best
  std::filesystem::path cache_folder;  // for compiled kernels; empty: none is kept
  uint64_t cache_bytes = 1 << 30;      // that the folder may hold
  Bindings typical_sizes = {};         // at which an order of steps is chosen
  LibraryPolicy library = LibraryPolicy::Never;
  runtime::ThreadSpeed thread_speed = {};
  bool finite = false;     // NaN and infinities need not be kept
  bool keep_code = false;  // LoadReport::code is asked for
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
  std::shared_ptr<const kernel::PlannedGraph> planned;          // for backends that run plans
  std::function<void(int done, int total)> progress = nullptr;  // of the plan's kernels
  // Of a plan whose code was kept, by this build or another: what LoadReport::code had. It runs as
  // it is, nothing is compiled; UserError where this build or this machine can't run it.
  std::shared_ptr<const std::string> code = nullptr;
};

// One compiled kernel, for reports and dumps.
struct KernelListing {
  double compile_ms = 0;
  bool from_cache = false;
  int launch = -1;  // those of one number run side by side; −1: it runs once weights are set
  std::vector<std::string> slow_paths;     // what it can't do at full speed, a line each
  std::function<std::string()> low_level;  // the target's IR, made when asked for
  std::function<std::string()> assembly;
};

struct LoadReport {
  std::vector<KernelListing> kernels;  // of all plans, in order
  std::vector<std::string> notes;
  // One per request, where that was asked for: the machine code of its kernels, as bytes of the
  // backend's own. Empty where it compiles nothing.
  std::vector<std::string> code = {};
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
  // The panels in which its contractions want to read weights; none: as they are.
  virtual std::optional<kernel::Packing> packing(const LoadOptions&) const { return std::nullopt; }
  // By kernel of the request's plan: whether a library computes it. The plan reads weights as they
  // are, `packed` is the same one with them in panels. UserError where a library is asked for that
  // isn't there.
  virtual std::vector<kernel::LibraryUse> choose_library(const LoadRequest& request,
                                                         const kernel::PlannedGraph&) const {
    return std::vector<kernel::LibraryUse>(static_cast<size_t>(request.planned->plan.n_kernels()));
  }
  // For each request the program that computes its `ports.results` and the state updates of its
  // graph. The programs are variants of one another, of which one runs at a time: they share equal
  // kernels and working memory. `report` may be null.
  virtual std::vector<std::unique_ptr<runtime::Program>> load(std::span<const LoadRequest> requests,
                                                              LoadReport* report) const = 0;
};

}  // namespace luminal::backends
