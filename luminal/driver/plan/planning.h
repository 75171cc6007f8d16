// Planning: from a graph to the plan that computes it, stage by stage.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "luminal/driver/compile.h"
#include "luminal/kernel/plan/planned_graph.h"
#include "luminal/kernel/recognise/panels.h"
#include "luminal/search/inspect/inspection.h"
#include "luminal/search/pipeline/rotation_planner.h"

namespace luminal {

// By kernel of `plain`: whether a library computes it. `packed` is the same plan with packed
// weights.
using ChooseLibrary = std::function<std::vector<kernel::LibraryChoice>(
    const std::shared_ptr<const kernel::PlannedGraph>& plain, const kernel::PlannedGraph& packed)>;

// Fills in `report` as it goes. `roots` are the nodes whose values must be in memory at the end.
// With `packing`, weights that contractions read are stored as packed panels, except for kernels
// that `choose_library`, if given, leaves to a library. `better`, if given, continues from the plan
// that the model prefers.
std::shared_ptr<const kernel::PlannedGraph> plan_graph(
    const Graph& graph, const std::vector<NodeId>& roots, const CompileOptions& options,
    CompileReport& report, std::optional<kernel::Packing> packing = {},
    const ChooseLibrary& choose_library = {}, const search::FindBetter& better = {});

// Options of planning: the rules of the backend, the user and custom ops, which rules run, and how
// to search. The one place that derives them from compile options, so that inspections see what was
// compiled.
search::PlanningOptions planning_options(const Graph& graph, const CompileOptions& options);

// "7 kernels, 0 host steps", and all kernels as text.
std::string plan_summary(const kernel::PlannedGraph& planned);
std::string plan_text(const kernel::PlannedGraph& planned);

// Records a stage, prints its text if that was requested, and throws if it is to be the last.
void end_stage(const InspectOptions& inspect, CompileReport& report, const std::string& name,
               double seconds, std::string summary, const std::function<std::string()>& text);

}  // namespace luminal
