// RunPlan: a plan as the CPU runs it. Its tensors are numbered and each has a home; its steps are
// in order, those that depend on weights alone apart from the rest.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "luminal/backends/backend.h"
#include "luminal/backends/cpu/onednn/library_step.h"
#include "luminal/backends/cpu/plan/host_step.h"

namespace luminal::backends::cpu {

enum class Home : uint8_t {
  Port,    // a leaf, or what a step may write straight to an output or over a state
  Arena,   // alive for part of a run
  Folded,  // computed when weights are set, and kept
};

struct RunTensor {
  DType dtype = DType::F32;
  Dims dims = {};
  std::string name = {};  // for messages
  Home home = Home::Arena;
  int port = -1;  // where it is at a port
  // The launches of its part between which it is needed; `last` is their number where what follows
  // them reads it. −1 where no step makes it.
  int first = -1;
  int last = -1;
  std::vector<int> may_take = {};  // tensors whose memory it may take over, see BufferRequest
  // Of a folded one: the kernels and weights it is made of. Equal keys are equal values, in all
  // plans of one graph; empty where nothing says so.
  std::string folded_key = {};
};

struct RunStep {
  int position = -1;               // in the plan; −1: it packs a weight for the library
  int launch = -1;                 // steps of one launch run side by side, and follow one another
  int kernel = -1;                 // number among the plan's kernels; −1 where it is none of them
  std::shared_ptr<HostStep> host;  // where no kernel computes it
  // Computes the kernel in place of its code; or packs a weight, from the first param to the
  // second.
  std::shared_ptr<const LibraryStep> library = {};
  std::vector<int> params;      // tensors, in the order of the kernel's; the host's result last
  std::vector<bool> is_output;  // by param
  // The param that isn't read because the library has packed it: what it reads instead is one more
  // param, the last.
  int unread = -1;
  std::vector<int> spent = {};  // weights that no step needs after it

  bool packs() const { return position < 0; }
  // Steps that wake threads themselves are a launch each.
  bool is_alone() const { return host != nullptr || library != nullptr; }
  size_t n_kernel_params() const { return params.size() - (unread >= 0); }
  bool is_unread(size_t param) const { return static_cast<int>(param) == unread; }
};

// After the last step: bytes that no step could write where they belong.
struct RunCopy {
  int from;  // tensors
  int to;
};

struct RunPlan {
  std::vector<RunTensor> tensors;
  std::vector<RunStep> load_steps;  // once weights are set
  std::vector<RunStep> run_steps;   // in every run
  std::vector<RunCopy> copies;      // in this order
  std::vector<int> folded;          // tensors that load_steps leave for run_steps
  int n_launches = 0;               // of run_steps
  std::vector<bool> in_place;  // by kernel of the plan: it writes, as far as sizes allow, where
                               // it reads
};

// Deterministic. A state's new value is written over the old one where no one needs that any more;
// steps over weights alone are folded unless their result is more than four times as large as what
// they read.
RunPlan make_run_plan(const LoadRequest& request);

// A line for the report per weight that is held in the library's order and is read as it is too.
std::vector<std::string> held_twice(const RunPlan& plan);

}  // namespace luminal::backends::cpu
