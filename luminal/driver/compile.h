// compile(): from a graph to an executable.
#pragma once

#include <string>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/driver/executable.h"
#include "luminal/graph/graph.h"

namespace luminal {

struct CompileOptions {
  std::string backend = "interp";  // see backend_names()
  bool float64 = false;            // compute every float as f64: the yardstick of accuracy
};

// The graph as it is now: later changes to it don't reach the executable. Weights and states whose
// data was set are loaded; everything else must be set before run().
LUMINAL_API Executable compile(const Graph& graph, const CompileOptions& options = {});

// The names compile() takes.
LUMINAL_API std::vector<std::string> backend_names();

}  // namespace luminal
