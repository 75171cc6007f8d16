// PlanCache: plans that were found before, on disk next to the compiled kernels, so that a graph
// isn't searched again.
//
// An entry holds the whole key (plan_key.h), which must match, the plan, and what planning adds to
// a report. What is read must pass verify_kernel and verify_plan; otherwise a note says so, and the
// graph is planned as if there were no entry.
#pragma once

#include "luminal/base/files/file_cache.h"
#include "luminal/driver/compile/kept_plan.h"

namespace luminal {

class PlanCache {
 public:
  // With an empty path nothing is cached.
  PlanCache(std::filesystem::path folder, uint64_t most_bytes)
      : files_(std::move(folder), base::kCachedPlans, most_bytes) {}

  // As plan_graph(). Graphs with custom ops and plans with library kernels are planned each time,
  // and so is everything if a stage of planning is to be printed or to be the last.
  std::shared_ptr<const kernel::PlannedGraph> plan(const PlanAsked& asked);

  // Why entries weren't read or written.
  std::vector<std::string> notes() const { return files_.notes(); }

 private:
  base::FileCache files_;
};

}  // namespace luminal
