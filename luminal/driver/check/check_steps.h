// StepChecker: checks every kernel of a run right after it, so that the first wrong one is named,
// not its consequences.
#pragma once

#include <limits>
#include <map>
#include <vector>

#include "luminal/driver/check/step_fault.h"
#include "luminal/driver/report/step_notes.h"
#include "luminal/graph/graph.h"
#include "luminal/graph/interpret/interpreter.h"
#include "luminal/runtime/program.h"

namespace luminal {

// How much of a run is checked.
struct StepChecks {
  // Kernels of more scalar operations are compared at some points of their outer loops: the first,
  // the last, those at edges of tiles, and others.
  double most_operations = std::numeric_limits<double>::infinity();
  bool against_graph = true;                     // interprets the whole graph
  IdVector<kernel::StepId, bool> of_steps = {};  // those to check; empty: all
  StepFault* fault = nullptr;                    // gets what the error says
};

// Each output stands between canaries and starts as NaN (all bits set). A kernel's result is
// compared with its own loops, interpreted, which finds code that was compiled wrong; and with the
// graph's interpreter, if a node of the graph has that value, which finds errors of rules and
// lowering. The kernel of a custom op is compared with the op's `compute` on the same operands; an
// error in it is a UserError. Otherwise InternalError, with the kernel, its ops, the rules behind
// it, the first wrong element and the largest error.
class StepChecker : public runtime::StepObserver {
 public:
  // `leaf` gives the leaves' data as it is before the run. All of it must outlive the checker.
  StepChecker(const Graph& graph, const StepNotes& notes, const Bindings& bindings,
              const interpret::LeafData& leaf, StepChecks checks = {});

  void before(const runtime::StepView& view) override;
  void after(const runtime::StepView& view) override;

 private:
  // An output in the checker's own memory, and where the program wants it.
  struct Guarded {
    size_t param;
    std::byte* wanted;
    size_t size;
    std::vector<std::byte> memory;
    std::byte* start;
  };

  // Moves a parameter that the step writes between canaries.
  void guard(const runtime::StepView& view, size_t param, DType dtype, const Dims& dims);
  void check_own_kernel(const runtime::StepView& view, NodeId id) const;
  void give_back(const runtime::StepView& view) const;
  void keep_leaves(const interpret::LeafData& leaf);
  void expect_nodes();
  // Null for steps that aren't kernels, and for those that aren't to be checked.
  const kernel::KernelStep* kernel_at(kernel::StepId step) const;
  [[noreturn]] void accuse(StepFault fault, const std::string& what) const;
  void check_canaries(kernel::StepId step, const Guarded& output) const;
  // Returns the largest magnitude inside of the kernel.
  double check_against_loops(kernel::StepId step, const kernel::Kernel& kernel,
                             std::span<const void* const> params) const;
  void check_against_graph(kernel::StepId step, const kernel::LoweredKernel& lowered,
                           std::span<const void* const> params, double inside);
  TensorData value_at(DType dtype, const Dims& dims, const void* data) const;
  TensorData value_at(const kernel::Param& param, const void* data) const {
    return value_at(param.dtype, param.dims, data);
  }

  const Graph& graph_;
  const StepNotes& notes_;
  const Bindings& bindings_;
  const StepChecks checks_;
  interpret::LeafData leaf_;                        // as before the run
  const bool floats_decide_;                        // whether floats determine integers or bool
  const bool bits_decide_;                          // whether bits of floats determine floats
  std::map<kernel::ClassId, NodeId> node_of_;       // of what kernels store
  std::map<kernel::ClassId, TensorData> expected_;  // by the graph's interpreter
  std::map<kernel::ClassId, double> off_;           // error of what was stored, against that
  std::vector<Guarded> outputs_;                    // of the kernel that runs
};

}  // namespace luminal
