// StepNotes: a plan with what reports, traces and checks say about each of its steps.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "luminal/driver/report.h"
#include "luminal/kernel/planned_graph.h"

namespace luminal {

struct StepNote {
  std::string name;                // "kernel 3", "host %7 (scan)"
  std::vector<std::string> ops;    // of a kernel, as "add ×2"
  std::vector<std::string> rules;  // behind its terms
};

struct StepNotes {
  std::shared_ptr<const kernel::PlannedGraph> planned;
  std::vector<StepNote> steps;  // one per step of the plan
};

// `kernels` are the report's entries for the plan's kernels, in order.
std::shared_ptr<const StepNotes> step_notes(std::shared_ptr<const kernel::PlannedGraph> planned,
                                            const std::vector<KernelReport>& kernels);

// "f32[128, 64]": a type with its dims under `bindings`.
std::string type_text(DType dtype, const Dims& dims, const Bindings& bindings);

}  // namespace luminal
