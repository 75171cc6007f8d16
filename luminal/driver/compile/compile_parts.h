// compile_parts: compile() that also returns, or starts from, the plan and code as bytes.
#pragma once

#include <string>

#include "luminal/driver/compile.h"

namespace luminal {

// The plan and code of a graph, as bytes.
struct CompiledParts {
  std::string plan;  // by kernel/plan/plan_bytes.h
  std::string code;  // by the backend, of the plan's kernels
};

struct PartsUse {
  const CompiledParts* given = nullptr;  // used as they are: nothing is planned or compiled
  CompiledParts* made = nullptr;         // gets what was made
};

// Both only for graphs with one plan (no variants) on a backend that runs plans. ByteError for
// malformed parts, UserError for parts that this build or machine can't run.
Executable compile_parts(const Graph& graph, const CompileOptions& options, const PartsUse& parts);

}  // namespace luminal
