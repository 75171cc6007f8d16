// Lowers the chosen terms under one root to the stages of a kernel. Cost, legality, canonical text
// and code generators all go through this one function.
#pragma once

#include <vector>

#include "luminal/base/result.h"
#include "luminal/kernel/ir/kernel.h"
#include "luminal/kernel/lower/instances.h"
#include "luminal/kernel/lower/term_graph.h"

namespace luminal::kernel {

// Where a parameter of a lowered kernel comes from: a source of the term graph, or a cut
// (materialised) class. Outputs come last: one, or several if kernels were merged.
struct ParamOrigin {
  SourceId source = {};  // none of a cut class
  ClassId value;
};

struct LoweredKernel {
  Kernel kernel;
  IdVector<ParamId, ParamOrigin> origins;
  std::vector<ClassId> classes;  // everything computed inside, sorted
  // A scatter that updates a state of the graph in place.
  bool updates_state = false;
};

// The classes that a kernel stores, in the order of its outputs.
std::vector<ClassId> stored_by(const LoweredKernel& lowered);

struct StageLimits {
  WalkLimits walk;
  int64_t most_local_bytes = 256 << 10;  // per outer point, with variables at their upper bounds
};

// The kernel that computes `root`, with the first `n_outer` of its loops as outer loops. A failure
// is a reason, not an error: search tries other cuts.
Result<LoweredKernel> stage(const TermGraph& graph, ClassId root, const Instances& instances,
                            int n_outer, const StageLimits& limits = {});

}  // namespace luminal::kernel
