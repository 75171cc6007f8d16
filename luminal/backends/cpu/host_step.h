// HostStep: a step that no kernel computes, run by the interpreter as a graph of its own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "luminal/backends/backend.h"
#include "luminal/graph/graph.h"

namespace luminal::backends::cpu {

class HostStep {
 public:
  // The step that makes `source` of the request's plan.
  HostStep(const LoadRequest& request, int source);

  // The classes it reads, each once.
  const std::vector<kernel::ClassId>& operands() const { return operands_; }
  // A custom op: the user's code, which the compiler knows nothing about.
  bool is_custom() const { return custom_; }
  // Reads operand k at operands[k] and writes the result. This allocates.
  void run(const Bindings& bindings, std::span<const void* const> operands, void* result) const;

 private:
  std::unique_ptr<Graph> graph_;
  NodeId node_;
  std::vector<NodeId> leaves_;  // of graph_, one per operand
  std::vector<kernel::ClassId> operands_;
  bool custom_ = false;
};

}  // namespace luminal::backends::cpu
