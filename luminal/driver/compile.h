// compile(): from a graph to an executable.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/backends/backend_options.h"
#include "luminal/base/visibility.h"
#include "luminal/driver/executable.h"
#include "luminal/driver/inspect_options.h"
#include "luminal/driver/plan_search.h"
#include "luminal/driver/report.h"
#include "luminal/driver/storage_options.h"
#include "luminal/graph/graph.h"
#include "luminal/search/plan_options.h"

namespace luminal {

// Progress of a compile.
struct CompileProgress {
  std::string_view stage;    // "fusion", "plan", "search" or "kernels"; the others are over at once
  int done = 0;              // patterns decided, plans tried, kernels compiled
  int total = 0;             // 0: not known
  std::string text = {};     // of a search: what it found so far
  double seconds_left = -1;  // of a search's budget; negative: not known
};

using ShowProgress = std::function<void(const CompileProgress&)>;

struct CompileOptions {
  BackendOptions backend = {};      // what the code is made for
  PlanOptions plan = {};            // what the plan may be
  PlanSearch search = {};           // how it is chosen
  StorageOptions storage = {};      // files that are read and kept
  InspectOptions inspect = {};      // what is looked at on the way
  CompileReport* report = nullptr;  // filled in if given
  ShowProgress progress = nullptr;  // called often, on the compiling thread
};

// Compiles the graph as it is now: later changes to it don't affect the executable. Weights and
// states whose data was set are loaded; everything else must be set before run().
LUMINAL_API Executable compile(const Graph& graph, const CompileOptions& options = {});

// The names compile() takes.
LUMINAL_API std::vector<std::string> backend_names();

}  // namespace luminal
