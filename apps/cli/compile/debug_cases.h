// The named graphs of `luminal debug-ops --case`: usual ones to look at, and ones with a fault that
// was planted, to see how it shows.
#pragma once

#include <span>

#include "luminal/graph/graph.h"
#include "luminal/search/inspect/inspection.h"

namespace luminal::cli {

struct DebugCase {
  const char* name;
  const char* summary;
  void (*build)(Graph& graph);
  // What is planted: rules, and what of the options isn't as usual. Null where nothing is.
  const char* rules = nullptr;
  const char* disabled_group = nullptr;
  int most_instances = 0;
};

std::span<const DebugCase> debug_cases();
// UserError that lists the names.
const DebugCase& find_debug_case(const std::string& name);
// Adds what the case plants.
void plant(const DebugCase& which, search::PlanningOptions& options);

}  // namespace luminal::cli
