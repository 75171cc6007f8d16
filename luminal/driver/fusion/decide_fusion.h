// decide_fusion: which patterns of a graph are fused, by policy, profile, records or measurement.
#pragma once

#include <string>
#include <vector>

#include "luminal/driver/compile.h"
#include "luminal/search/cuts/find_plan.h"

namespace luminal {

struct FusionDecisions {
  std::vector<search::FusionForce> forces;  // for the search; sorted by node
  std::vector<FusionReport> reports;        // one per pattern, shape and decision
  std::vector<std::string> notes;           // about the profile and the tuning records
};

// The group of PlanOptions::fusion_groups for kernels over the same outer loops that read the same
// (horizontal fusion): they become one as modelled, or never.
inline constexpr const char* kSideBySide = "side-by-side";

// Deterministic within a process, however often it is called: measurements are remembered.
// UserError for a group that isn't a pattern or kSideBySide.
FusionDecisions decide_fusion(const Graph& graph, const CompileOptions& options);

// Adds the decisions for this variant.
void report_fusion(FusionDecisions decided, const std::string& variant, CompileReport& report);

bool merges_side_by_side(const PlanOptions& options);

// Only the decisions for the search; patterns aren't looked for if no policy needs them.
std::vector<search::FusionForce> fusion_forces(const Graph& graph, const CompileOptions& options);

}  // namespace luminal
