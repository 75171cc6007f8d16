// luminal debug-ops without a question: goes through every stage of a compile and a run.
#pragma once

#include <string>

#include "apps/cli/compile/debug_cases.h"
#include "apps/cli/compile/model_graph.h"
#include "apps/cli/files/leaf_data.h"
#include "apps/cli/options/compile_options.h"
#include "apps/inspect/debug/debug_report.h"

namespace luminal::cli {

struct DebugStagesOptions {
  LeafArguments leaves;
  ModelShape model;
  uint64_t seed = 1;
  std::string until;        // the last stage to run; empty: all
  double operations = 3e8;  // limit for the interpreter
};

// Debugs a case if given, else the graph or model at the path. A failure to open it is reported as
// a cause in stage 'graph'.
debug::DebugReport debug_stages(const std::string& path, const DebugCase* named,
                                const CompileOptions& compile, const DebugStagesOptions& options);

}  // namespace luminal::cli
