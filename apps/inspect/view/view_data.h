// The data of the `luminal view` page about one compile and its runs, as JSON.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/inspect/view/plan_data.h"
#include "luminal/driver/compile.h"
#include "luminal/driver/trace.h"

namespace luminal::view {

// A compile that planned anew (InspectOptions::print_after = "rolled"), with rivals, and some runs.
struct Compiled {
  std::string name;  // of the graph or model
  const Graph& graph;
  const CompileOptions& options;
  const CompileReport& report;
  const Trace& trace;
  std::vector<size_t> plan_of_run;  // the plan that each run of the trace used
  std::vector<std::string> sizes_of_run;
};

// An object: `name`, `version`, `target`, `stages`, `rules`, `notes`, `memory`, `stored`, `nodes`
// of the graph and its `outputs`, `plans` (see plan_data.h and stages_data.h), and the `trace` with
// the machine's roofline. Deterministic except for times.
std::string view_data(const Compiled& compiled, const CodeOptions& code,
                      const std::function<void(const std::string&)>& progress = {});

}  // namespace luminal::view
