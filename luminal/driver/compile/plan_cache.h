// PlanCache: plans that were found before, on disk beside the compiled kernels: a graph that was
// compiled once is not searched again.
//
// An entry holds the whole question (plan_key.h), which must be the one asked, the plan, and what
// planning adds to a report. What is read is taken for a plan only after verify_kernel and
// verify_plan; anything amiss is a note, and the graph is planned as if there had been no entry.
#pragma once

#include "luminal/base/files/file_cache.h"
#include "luminal/driver/plan/planning.h"

namespace luminal {

class PlanTuner;

class PlanCache {
 public:
  // An empty path: every graph is planned.
  PlanCache(std::filesystem::path folder, uint64_t most_bytes)
      : files_(std::move(folder), base::kCachedPlans, most_bytes) {}

  // As plan_graph(). Graphs with custom ops and plans that a library has part in are planned each
  // time; so is all where a stage of planning is to be printed, or to be the last. With a tuner,
  // which searches by measuring, its records take the place of the files.
  std::shared_ptr<const kernel::PlannedGraph> plan(
      const Graph& graph, const std::vector<NodeId>& roots, const CompileOptions& options,
      CompileReport& report, std::optional<kernel::Packing> packing,
      const ChooseLibrary& choose_library, PlanTuner* tuner = nullptr);

  // What kept it from doing its work, in words.
  std::vector<std::string> notes() const { return files_.notes(); }

 private:
  std::shared_ptr<const kernel::PlannedGraph> plan_tuned(
      const Graph& graph, const std::vector<NodeId>& roots, const CompileOptions& options,
      CompileReport& report, std::optional<kernel::Packing> packing,
      const ChooseLibrary& choose_library, PlanTuner& tuner);

  base::FileCache files_;
};

}  // namespace luminal
