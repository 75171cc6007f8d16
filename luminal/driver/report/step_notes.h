// StepNotes: a plan with what reports, traces and checks say about each of its steps.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/driver/report.h"
#include "luminal/graph/graph.h"
#include "luminal/kernel/plan/planned_graph.h"
#include "luminal/runtime/program.h"

namespace luminal {

struct StepNote {
  std::string name;                   // "kernel 3", "host %7 (custom)", "own kernel of %7 (custom)"
  std::string title = {};             // of a kernel: "layers.3.mlp: down_proj → add"
  std::vector<std::string> ops = {};  // of a kernel, as "add ×2"
  std::vector<std::string> rules = {};  // behind its terms
  bool of_user = false;                 // the user's own code
  std::string library = {};             // that computes it: "oneDNN 3.2.0, brg:avx512_core"
};

struct StepNotes {
  std::shared_ptr<const kernel::PlannedGraph> planned;
  IdVector<kernel::StepId, StepNote> steps;  // of the plan
};

// `kernels` are the report's entries for the plan's kernels, in order.
std::shared_ptr<const StepNotes> step_notes(const Graph& graph,
                                            std::shared_ptr<const kernel::PlannedGraph> planned,
                                            const std::vector<KernelReport>& kernels);

// The step of the plan that a program shows to an observer; none for what it does beside them.
inline kernel::StepId step_of(const runtime::StepView& view) {
  return kernel::StepId::of_number(view.step);
}

// Whether a node is a custom op that brings a kernel.
bool brings_kernel(const Node& node);
// The node whose own kernel runs as this step of the plan; none where it is another step.
std::optional<NodeId> own_kernel_at(const Graph& graph, const kernel::PlannedGraph& planned,
                                    kernel::StepId step);

// "f32[128, 64]": a type with its dims under `bindings`.
std::string type_text(DType dtype, const Dims& dims, const Bindings& bindings);

}  // namespace luminal
