// RunPlan: a plan as the CPU runs it. Tensors are numbered, and each has a place in memory (home);
// steps are in order, those that depend only on weights separate from the rest.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "luminal/backends/backend.h"
#include "luminal/backends/cpu/onednn/library_step.h"
#include "luminal/backends/cpu/plan/host_step.h"

namespace luminal::backends::cpu {

enum class Home : uint8_t {
  Port,    // a leaf, or a result that a step writes straight to an output or over a state
  Arena,   // alive during part of a run
  Folded,  // computed once when weights are set, and kept
};

struct TensorTag;
using TensorId = Id<TensorTag>;  // a position in RunPlan::tensors

struct RunTensor {
  DType dtype = DType::F32;
  Dims dims = {};
  std::string name = {};  // for messages
  Home home = Home::Arena;
  runtime::PortId port = {};  // for Home::Port
  // The first and last launch in which it is alive, among load or run steps; `last` is the number
  // of launches if it is still read after them. −1 if no step computes it.
  int first = -1;
  int last = -1;
  std::vector<TensorId> may_take =
      {};  // tensors whose memory it may reuse in place, see BufferRequest
  // Of a folded one: the kernels and weights that it is computed from. Equal keys mean equal values
  // in all plans of one graph; empty if unknown.
  std::string folded_key = {};
};

struct RunStep {
  kernel::StepId position = {};    // in the plan; none: it packs a weight for the library
  int launch = -1;                 // steps of one launch are consecutive and run in parallel
  kernel::KernelId kernel = {};    // if it is one
  std::shared_ptr<HostStep> host;  // if it isn't compiled
  // Computes the kernel instead of its code; or packs a weight, from the first param to the second.
  std::shared_ptr<const LibraryStep> library = {};
  IdVector<kernel::ParamId, TensorId> params;  // as the kernel's; the host's result last
  IdVector<kernel::ParamId, bool> is_output;
  // The param that isn't read because the library has packed it: the packed one is appended as the
  // last param.
  kernel::ParamId unread = {};
  std::vector<TensorId> spent = {};  // weights that no step needs after it

  bool packs() const { return !position.valid(); }
  // Steps that start threads themselves have a launch of their own.
  bool is_alone() const { return host != nullptr || library != nullptr; }
  size_t n_kernel_params() const { return params.size() - unread.valid(); }
  bool is_unread(kernel::ParamId param) const { return param == unread; }
};

// A copy after the last step, for results that no step could write to their place directly.
struct RunCopy {
  TensorId from;
  TensorId to;
};

struct RunPlan {
  IdVector<TensorId, RunTensor> tensors;
  std::vector<RunStep> load_steps;            // once weights are set
  std::vector<RunStep> run_steps;             // in every run
  std::vector<RunCopy> copies;                // in this order
  std::vector<TensorId> folded;               // tensors that load_steps leave for run_steps
  int n_launches = 0;                         // of run_steps
  IdVector<kernel::KernelId, bool> in_place;  // an output may reuse an input's memory
};

// Deterministic. A state's new value overwrites the old one in place if the old one isn't needed
// any more; steps that depend only on weights are folded unless their result is more than four
// times as large as their inputs.
RunPlan make_run_plan(const LoadRequest& request);

// One report line per weight that is in memory twice: packed for the library and unpacked.
std::vector<std::string> held_twice(const RunPlan& plan);

}  // namespace luminal::backends::cpu
