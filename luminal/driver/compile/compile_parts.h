// compile_parts: compile() for those who keep what it made, or have kept it.
#pragma once

#include <string>

#include "luminal/driver/compile.h"

namespace luminal {

// What is made of a graph, as bytes.
struct CompiledParts {
  std::string plan;  // by kernel/plan/plan_bytes.h
  std::string code;  // by the backend, of the plan's kernels
};

struct PartsUse {
  const CompiledParts* given = nullptr;  // used as they are: nothing is planned or compiled
  CompiledParts* made = nullptr;         // gets what was made
};

// Both only of graphs with one plan (no variants) on a backend that runs plans. ByteError for given
// parts that aren't such, UserError for those that this build or machine can't run.
Executable compile_parts(const Graph& graph, const CompileOptions& options, const PartsUse& parts);

}  // namespace luminal
