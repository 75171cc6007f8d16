// LoadedPlans: several compiled plans of one graph that share its leaves and run alternately.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "luminal/backends/backend.h"
#include "luminal/graph/interpret/interpreter.h"
#include "luminal/runtime/program.h"

namespace luminal {

// A graph with everything that its plans share when they run.
struct RunnableGraph {
  std::shared_ptr<const Graph> graph;
  std::vector<NodeId> results;          // that every run writes, without new values of states
  std::vector<runtime::Buffer> leaves;  // their values
  Bindings sizes;
};

// The leaves as the interpreter reads them. The graph must outlive it.
interpret::LeafData leaf_data(const RunnableGraph& graph);

class LoadedPlans {
 public:
  LoadedPlans(const RunnableGraph& graph, const backends::Backend& backend,
              const backends::LoadOptions& options,
              std::span<const std::shared_ptr<const kernel::PlannedGraph>> plans);

  // Runs a plan once, with an observer if given; returns its seconds.
  double run(size_t plan, runtime::StepObserver* observer = nullptr);
  // The elements of a result after a run.
  std::vector<double> result(size_t number) const;

 private:
  Bindings sizes_;
  size_t n_leaves_ = 0;
  std::vector<std::unique_ptr<runtime::Program>> programs_;
  std::vector<runtime::Buffer> buffers_;  // by port
};

}  // namespace luminal
