// SharedRows: a contraction of a few rows that share one factor, as query heads share keys and
// values in grouped-query attention. Each element of that factor is loaded and widened once for all
// rows.
#pragma once

#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::backends::cpu {

struct EmitOptions;
struct Schedule;
struct Target;

struct SharedRows {
  kernel::StageId stage;
  std::vector<kernel::LoopId> rows;  // its loops except the last, all with static extents
  kernel::LoopId column;             // its last loop; the left factor doesn't depend on it
  kernel::LoopId k;                  // the reduction loop
  kernel::StageId left = {};   // stages of the schedule that compute one element of each factor;
  kernel::StageId right = {};  // the right one doesn't depend on the rows
  // Vectorised along k, as for q · K^T, or along the columns, as for p · V.
  bool lanes_along_k = false;
};

// Finds such stages in a schedule that isn't vectorised along its outer loop, and adds stages for
// their factors.
void find_shared_rows(Schedule& schedule, const Target& target, const EmitOptions& options);

}  // namespace luminal::backends::cpu
