// HostStep: a step that isn't compiled: run by a custom op's own kernel, or by the interpreter.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "luminal/backends/backend.h"
#include "luminal/backends/cpu/launch/custom_launch.h"
#include "luminal/graph/graph.h"

namespace luminal::backends::cpu {

class HostStep {
 public:
  // The step that computes `source` of the request's plan.
  HostStep(const LoadRequest& request, kernel::SourceId source);

  // The classes it reads, one per input of the op.
  const std::vector<kernel::ClassId>& operands() const { return operands_; }
  // A custom op: the user's code, which the compiler knows nothing about.
  bool is_custom() const { return custom_; }
  // The op has its own kernel: call prepare() once per set of sizes, then run() the result.
  bool has_kernel() const { return own_kernel_ != nullptr; }
  CustomLaunch prepare(const Bindings& bindings, int threads) const;
  // Runs the interpreter: reads operand k at params[k], writes to the last param. Allocates.
  void interpret(const Bindings& bindings, std::span<const void* const> params) const;

 private:
  std::unique_ptr<Graph> graph_;
  NodeId node_;
  std::vector<NodeId> leaves_;  // of graph_, one per operand
  std::vector<kernel::ClassId> operands_;
  bool custom_ = false;
  const CustomOp* own_kernel_ = nullptr;  // the node's op, if it has a kernel
};

}  // namespace luminal::backends::cpu
