// decide_fusion: which patterns of a graph are fused, by policy, profile or measurement.
#pragma once

#include <string>
#include <vector>

#include "luminal/driver/compile.h"
#include "luminal/search/cuts/find_plan.h"

namespace luminal {

struct FusionDecisions {
  std::vector<search::FusionForce> forces;  // for the search; sorted by node
  std::vector<FusionReport> reports;        // one per pattern, shape and answer
  std::vector<std::string> notes;           // what is to be known of the profile
};

// The same graph and options give the same decisions within a process, however often they are asked
// for: what was measured is remembered. UserError for a group that isn't a pattern.
FusionDecisions decide_fusion(const Graph& graph, const CompileOptions& options);

// Adds what was decided, for this variant.
void report_fusion(FusionDecisions decided, const std::string& variant, CompileReport& report);

// What it forces on a plan alone: nothing is looked for where no policy decides.
std::vector<search::FusionForce> fusion_forces(const Graph& graph, const CompileOptions& options);

}  // namespace luminal
