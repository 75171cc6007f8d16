#include "luminal/backends/cpu/schedule/prefetch.h"

#include <algorithm>

#include "luminal/backends/cpu/schedule/lane_pattern.h"

namespace luminal::backends::cpu {
namespace {

// Default prefetch distance of single-pass kernels: one small page, since the hardware prefetcher
// stops at the end of a page.
constexpr int64_t kBytesAhead = 4096;
constexpr kernel::StageId kFirst{0};

// For a single pass over the data in memory order.
void plan_streams(Schedule& schedule, const EmitOptions& options) {
  const int64_t ahead = options.choices.get(kernel::Knob::PrefetchBytes, kBytesAhead);
  const ScheduledStage& stage = schedule.stages[kFirst];
  if (!stage.vector_loop.valid() || stage.loops.size() > (schedule.vector_outer ? 0u : 1u)) return;
  for (size_t k = 0; k < stage.access.size(); ++k) {
    const auto* load = std::get_if<kernel::LoadInst>(&stage.source->body[k].what);
    if (load == nullptr || !stage.access[k].gathered.empty()) continue;
    const Expr address = stage.access[k].address;
    if (!lane_pattern(address, stage.vector_loop, stage.lanes).stride.is(1)) continue;
    const bool known = std::ranges::any_of(schedule.prefetches, [&](const Prefetch& p) {
      return p.param == load->param && p.address == address;
    });
    const int bytes = std::max(1, bits(schedule.kernel->params[load->param].dtype) / 8);
    if (!known) schedule.prefetches.push_back({kFirst, load->param, address, ahead / bytes});
  }
}

}  // namespace

// Kernels over rows read a row, then compute on it from the cache, while memory would idle. So the
// most expensive stage prefetches the next row.
void plan_prefetches(Schedule& schedule, const EmitOptions& options) {
  const kernel::LoopId last = last_outer(schedule);
  if (schedule.stages.size() == 1) return plan_streams(schedule, options);
  if (schedule.vector_outer || !last.valid()) return;
  kernel::StageId heaviest;
  int weight = -1;
  for (kernel::StageId k : schedule.stages.ids()) {
    const ScheduledStage& stage = schedule.stages[k];
    if (!stage.vector_loop.valid() || stage.loops.size() > 1) continue;
    if (body_weight(*stage.source) >= weight) {
      weight = body_weight(*stage.source);
      heaviest = k;
    }
  }
  if (!heaviest.valid()) return;
  const kernel::LoopId loop = schedule.stages[heaviest].vector_loop;
  const Expr extent = schedule.extents[loop];
  for (const ScheduledStage& stage : schedule.stages) {
    // A stage with several loops reads more than one row, which a single loop can't prefetch.
    if (!stage.vector_loop.valid() || stage.loops.size() > 1) continue;
    if (!(schedule.extents[stage.vector_loop] == extent)) continue;
    for (size_t k = 0; k < stage.access.size(); ++k) {
      const auto* load = std::get_if<kernel::LoadInst>(&stage.source->body[k].what);
      if (load == nullptr || !stage.access[k].gathered.empty()) continue;
      Expr address = stage.access[k].address;
      LanePattern along = lane_pattern(address, stage.vector_loop, stage.lanes);
      LanePattern next = lane_pattern(address, last, 1);
      if (!along.stride.is(1) || next.kind != LaneKind::Affine || !next.across_chunks) continue;
      address = address.substitute(index_of(stage.vector_loop, extent), index_of(loop, extent));
      const bool known = std::ranges::any_of(schedule.prefetches, [&](const Prefetch& p) {
        return p.param == load->param && p.address == address;
      });
      if (!known) schedule.prefetches.push_back({heaviest, load->param, address, next.stride});
    }
  }
}

}  // namespace luminal::backends::cpu
