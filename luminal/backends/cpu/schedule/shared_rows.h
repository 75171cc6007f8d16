// SharedRows: a stage that sums products for a few rows which share one factor, as the heads of a
// group share keys and values. Each element of that factor is loaded and widened once for all rows.
#pragma once

#include <vector>

namespace luminal::backends::cpu {

struct EmitOptions;
struct Schedule;
struct Target;

struct SharedRows {
  int stage = -1;
  std::vector<int> rows;  // its loops but for the last, all of fixed extents
  int column = -1;        // its last loop; the left factor doesn't depend on it
  int k = -1;             // that it sums over
  int left = -1;          // stages of the schedule that compute an element of a factor
  int right = -1;         // this one doesn't depend on the rows
  // Lanes run along k, as for scores of keys, or along the columns, as for sums of values.
  bool lanes_along_k = false;
};

// Finds such stages of a schedule whose stages run along loops of their own, and adds stages for
// their factors.
void find_shared_rows(Schedule& schedule, const Target& target, const EmitOptions& options);

}  // namespace luminal::backends::cpu
