// Lowering a kernel: from chosen terms under one root to stages, the one function that cost,
// legality, canonical text and emitters share.
#pragma once

#include <vector>

#include "luminal/base/result.h"
#include "luminal/kernel/ir/kernel.h"
#include "luminal/kernel/lower/instances.h"
#include "luminal/kernel/lower/term_graph.h"

namespace luminal::kernel {

// Where a parameter of a lowered kernel comes from: a source of the term graph, or a cut class. Its
// outputs are the last ones: one, or several where kernels were merged.
struct ParamOrigin {
  int source = -1;
  ClassId value;
};

struct LoweredKernel {
  Kernel kernel;
  std::vector<ParamOrigin> origins;
  std::vector<ClassId> classes;  // everything computed inside, sorted: the kernel's source terms
  // A scatter into a state of the graph, which it rewrites where it lies.
  bool updates_state = false;
};

// The classes that a kernel stores, in the order of its outputs.
std::vector<ClassId> stored_by(const LoweredKernel& lowered);

struct StageLimits {
  WalkLimits walk;
  int64_t most_local_bytes = 256 << 10;  // per outer point, at the bounds of the variables
};

// The kernel that computes `root` with the first `n_outer` of its loops as outer ones. Failure is a
// reason, not an error: search goes on with other cuts.
Result<LoweredKernel> stage(const TermGraph& graph, ClassId root, const Instances& instances,
                            int n_outer, const StageLimits& limits = {});

}  // namespace luminal::kernel
