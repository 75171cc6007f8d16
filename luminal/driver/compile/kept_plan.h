// KeptPlan: a plan with its part of a report, as the plan cache and the tuning records hold it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/driver/inspect_options.h"
#include "luminal/driver/plan/plan_key.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/driver/report/report_bytes.h"

namespace luminal {

// What a plan is asked for: the arguments of plan_graph(), and what keys are made of.
struct PlanAsked {
  const Graph& graph;
  const std::vector<NodeId>& roots;
  const CompileOptions& options;
  std::optional<kernel::Packing> packing;
  ChooseLibrary choose_library;
  CompileReport& report;
  search::PlanningOptions planning;
  PlanPlace place;

  // The number that reports give to the plan's first kernel.
  size_t first_kernel() const { return report.kernels.size() - report.n_packing(); }
};
// The key of the plan under which a report with these properties is kept.
std::string key_of(const PlanAsked& asked, bool explained, bool with_rivals, size_t first_kernel);

struct KeptPlan {
  std::shared_ptr<const kernel::PlannedGraph> planned;
  std::string_view report;
};

// `key` is everything that the plan and its report depend on (plan_key.h).
std::string entry_of(std::string_view key, std::string_view report,
                     const kernel::PlannedGraph& planned);
// The entry of a plan that was just made, with what the report gained since `mark`.
std::string entry_of(std::string_view key, const CompileReport& report, const ReportMark& mark,
                     const kernel::PlannedGraph& planned);

bool has_key(std::string_view entry, std::string_view key);
// Throws, any exception, if the entry isn't valid for this key and graph.
KeptPlan read_entry(std::string_view entry, std::string_view key, const Graph& graph,
                    const std::vector<NodeId>& roots);

// Code of custom ops can't be compared, so their plans aren't kept.
bool has_custom_ops(const Graph& graph);
// Whether a stage that only planning has is to be printed, or to be the last.
bool wants_stages(const InspectOptions& inspect);

// Adds a kept plan to the report; `from` says where it was found.
void report_kept(const KeptPlan& kept, const std::string& from, double seconds,
                 const PlanAsked& asked);

}  // namespace luminal
