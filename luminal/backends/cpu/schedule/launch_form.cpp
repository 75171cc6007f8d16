#include "luminal/backends/cpu/schedule/launch_form.h"

#include <algorithm>

#include "luminal/backends/cpu/schedule/gathered_rows.h"
#include "luminal/backends/cpu/schedule/schedule.h"

namespace luminal::backends::cpu {
namespace {

// A multiple of the lanes of any vector, so that ranges of points start at whole vectors.
constexpr int64_t kVectorGrain = 64;

bool copies_rows(const Schedule& schedule) {
  return schedule.tiling && std::ranges::any_of(schedule.tiling->contractions, [](const auto& c) {
           return !c.left.in_place || c.quantised;
         });
}

}  // namespace

LaunchForm launch_form(const Schedule& schedule, const EmitOptions& options) {
  return {.points = schedule.points,
          .scratch_bytes = schedule.scratch_bytes,
          .grain = schedule.vector_outer && !schedule.tiling ? kVectorGrain : 1,
          .tiled = schedule.tiling.has_value(),
          .copies_rows = copies_rows(schedule),
          .aligned_outputs = options.nontemporal_stores,
          .looks_at_rows = options.look_at_rows && looks_at_rows(*schedule.kernel)};
}

}  // namespace luminal::backends::cpu
