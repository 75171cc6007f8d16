// The named graphs of `luminal debug-ops --case`: regular ones, and ones with an injected fault, to
// see how it shows.
#pragma once

#include <span>

#include "luminal/graph/graph.h"
#include "luminal/search/inspect/inspection.h"

namespace luminal::cli {

struct DebugCase {
  const char* name;
  const char* summary;
  void (*build)(Graph& graph);
  // The injected fault: rules, and changed options. Null if there is none.
  const char* rules = nullptr;
  const char* disabled_group = nullptr;
  int most_instances = 0;
};

std::span<const DebugCase> debug_cases();
// UserError that lists the names for an unknown one.
const DebugCase& find_debug_case(const std::string& name);
// Injects the fault of a case.
void plant(const DebugCase& which, search::PlanningOptions& options);

}  // namespace luminal::cli
