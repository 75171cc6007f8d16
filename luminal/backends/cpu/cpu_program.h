// CpuProgram: a plan of compiled kernels, run in order over buffers that grow only when they must.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "luminal/backends/backend.h"
#include "luminal/backends/cpu/jit.h"
#include "luminal/graph/graph.h"
#include "luminal/runtime/program.h"

namespace luminal::backends::cpu {

class CpuProgram : public runtime::Program {
 public:
  // `kernels` are those of the plan's kernel steps, in order.
  CpuProgram(const LoadRequest& request,
             std::vector<std::shared_ptr<const CompiledKernel>> kernels);

  const std::vector<runtime::Port>& ports() const override { return ports_; }
  void run(const Bindings& bindings, std::span<const runtime::Buffer> buffers,
           const runtime::StepOptions& options) override;
  std::unique_ptr<Program> clone() const override;

 private:
  // A step that the host computes, as a graph of its own: its inputs are leaves.
  struct HostGraph {
    std::unique_ptr<Graph> graph;
    NodeId node;
    std::vector<NodeId> leaves;             // of `graph`
    std::vector<kernel::ClassId> operands;  // of the plan, one per leaf
  };

  void make_host_graph(int source);
  void bind_memory(const Bindings& bindings, std::span<const runtime::Buffer> buffers);
  void run_kernel(const kernel::KernelStep& step, const CompiledKernel& kernel,
                  const Bindings& bindings, int number, runtime::StepObserver* observer);
  void run_host(const HostGraph& host, int source, const Bindings& bindings);
  void finish(std::span<const runtime::Buffer> buffers);
  runtime::Buffer grown(runtime::Buffer buffer, size_t size) const;
  const runtime::Buffer& memory_of(kernel::ClassId id) const;

  LoadRequest request_;
  std::vector<std::shared_ptr<const CompiledKernel>> kernels_;
  std::vector<runtime::Port> ports_;
  std::unordered_map<int, std::shared_ptr<const HostGraph>> host_graphs_;  // by source

  // Working memory. By source and by class: where it is in this run, and what is kept for the next.
  std::vector<runtime::Buffer> sources_, values_;
  std::vector<runtime::Buffer> own_sources_, own_values_;
  runtime::Buffer scratch_;
};

}  // namespace luminal::backends::cpu
