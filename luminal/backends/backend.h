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
  bool float64 = false;  // compute every float as f64, as a reference; outputs are f64 then
  int threads = 1;
  std::string target;  // instruction set to compile for; default: the best this machine supports
  std::filesystem::path cache_folder;  // for compiled kernels; empty: no cache
  uint64_t cache_bytes = 1 << 30;      // maximum size of the folder
  Bindings typical_sizes = {};         // sizes for which the order of steps is optimised
  LibraryPolicy library = LibraryPolicy::Never;
  runtime::ThreadSpeed thread_speed = {};
  bool reorder_sums = true;  // measured choices may change the order of sums
  bool finite = false;       // NaN and infinities need not be preserved
  bool keep_code = false;    // fill in LoadReport::code
};

// How a graph's leaves and results map to a program's ports: leaves in order of creation, then one
// Output per node of `results`.
struct PortMap {
  std::vector<NodeId> leaves;
  std::vector<NodeId> results;
};

// The ports of a graph under a map; with `float64`, float results are f64.
std::vector<runtime::Port> make_ports(const Graph& graph, const PortMap& map, bool float64);

struct LoadRequest {
  std::shared_ptr<const Graph> graph;
  PortMap ports;
  LoadOptions options;
  std::shared_ptr<const kernel::PlannedGraph> planned;          // for backends that run plans
  std::function<void(int done, int total)> progress = nullptr;  // of the plan's kernels
  // Machine code of this plan from LoadReport::code, of this build or another. It is run instead of
  // compiling; UserError if this build or this machine can't run it.
  std::shared_ptr<const std::string> code = nullptr;
};

// One compiled kernel, for reports and dumps.
struct KernelListing {
  double compile_ms = 0;
  bool from_cache = false;
  int launch = -1;  // kernels with the same number run in parallel; −1: runs once weights are set
  std::vector<std::string> slow_paths;     // what isn't fully vectorised, one line each
  std::function<std::string()> low_level;  // the target's IR, generated on request
  std::function<std::string()> assembly;
};

struct LoadReport {
  std::vector<KernelListing> kernels;  // of all plans, in order
  std::vector<std::string> notes;
  // With keep_code, one per request: the machine code of its kernels in the backend's own format.
  // Empty if the backend compiles nothing.
  std::vector<std::string> code = {};
};

// A file of rewrite rules, in the language of docs/rules.md.
struct BackendRuleFile {
  std::string name;  // used in messages
  std::string text;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  // Whether it runs plans of kernels, as opposed to the graph itself.
  virtual bool runs_plans() const = 0;
  // Describes the target in words for the report; empty if it compiles nothing. UserError for an
  // unknown target.
  virtual std::string target(const LoadOptions& options) const = 0;
  // Rules of its own. They run beside the embedded ones in compiles for this backend alone. Of the
  // options only target, threads and library are set: what rules may change about the numbers is
  // their class.
  virtual std::vector<BackendRuleFile> rules(const LoadOptions&) const { return {}; }
  // The layout of packed B panels in which its GEMMs read weights; none: weights aren't packed.
  virtual std::optional<kernel::Packing> packing(const LoadOptions&) const { return std::nullopt; }
  // For each kernel of the request's plan, whether a library computes it. That plan reads unpacked
  // weights; the second argument is the same plan with weights in panels. UserError if a library is
  // requested that isn't available.
  virtual std::vector<kernel::LibraryChoice> choose_library(const LoadRequest& request,
                                                            const kernel::PlannedGraph&) const {
    return std::vector<kernel::LibraryChoice>(
        static_cast<size_t>(request.planned->plan.n_kernels()));
  }
  // The other ways in which it can run a step's kernel, for a measured search to try.
  virtual std::vector<kernel::StepChoice> candidates(const kernel::KernelStep&,
                                                     const LoadOptions&) const {
    return {};
  }
  // Compiles each request into a program that computes its `ports.results` and its graph's state
  // updates. The programs are variants of one graph, of which only one runs at a time: they share
  // equal kernels and working memory. `report` may be null.
  virtual std::vector<std::unique_ptr<runtime::Program>> load(std::span<const LoadRequest> requests,
                                                              LoadReport* report) const = 0;
};

}  // namespace luminal::backends
