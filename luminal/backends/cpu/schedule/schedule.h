// Schedule: how the CPU runs a kernel: flat addresses, the vectorised loop, unroll factors, and the
// layout of local buffers.
#pragma once

#include <optional>
#include <vector>

#include "luminal/backends/cpu/schedule/launch_form.h"
#include "luminal/backends/cpu/schedule/row_blocks.h"
#include "luminal/backends/cpu/schedule/shared_rows.h"
#include "luminal/backends/cpu/schedule/tiling.h"
#include "luminal/backends/cpu/target/target.h"
#include "luminal/kernel/ir/kernel.h"
#include "luminal/kernel/plan/schedule_choices.h"
#include "luminal/kernel/plan/strategy.h"

namespace luminal::backends::cpu {

// Size of the dummy area at the start of scratch memory, which is read instead of a tensor without
// elements. Its middle serves as the base, so that address 0 ± one vector lies inside. Its first
// bytes are the flag of gathered_rows.h.
inline constexpr int kSpareBytes = 1024;

// Options of the emitter; only `contract` changes results.
struct EmitOptions {
  // Non-temporal stores for outputs that are written in whole aligned vectors. The outputs must
  // then start at a multiple of 64 bytes.
  bool nontemporal_stores = false;
  // How the kernel is computed; default: by its default strategy.
  std::optional<kernel::Strategy> strategy = {};
  // What the plan says besides. Streams is settled above, since it depends on where outputs are.
  kernel::ScheduleChoices choices = {};
  // Skip roundings of intermediate results: fused multiply-adds, 16-bit floats; see unrounded.h.
  bool contract = true;
  // Check gathered indices, see gathered_rows.h; off only to measure the cost.
  bool look_at_rows = true;
};

// An element's position in its tensor or local buffer, in elements:
// address + Σ inside(value, extent) · stride, where inside() forces the value into 0 … extent − 1.
struct Access {
  struct Gathered {
    kernel::InstId value;
    Expr extent, stride;
  };
  Expr address;
  std::vector<Gathered> gathered;
  // Of a load that only counts where this bool holds: a simpler address, valid there. The other one
  // is valid everywhere. See kernel/recognise/guarded_loads.h.
  kernel::InstId guard = {};
  Expr guarded = {};

  Expr simplest() const { return guard.valid() ? guarded : address; }
};

struct ScheduledStage {
  const kernel::Stage* source = nullptr;
  std::vector<Access> access;  // one per instruction, meaningful for Load and Local
  std::vector<Expr> iota;      // one per instruction, meaningful for Iota
  Access target;               // in an output or the local buffer; for an update, gathered by row
  std::vector<kernel::LoopId>
      loops;                   // the stage's own loops, outermost first, the reduction's last
  kernel::LoopId vector_loop;  // the vectorised loop: one of these, or the kernel's
  int lanes = 1;
  int unroll = 1;
  bool in_memory = false;  // a local with a buffer, else it is one value in a register
  Expr local_offset;       // of its buffer in the scratch memory, in bytes
};

// A stream of elements that each outer iteration reads: while `stage` runs, the cache lines of the
// next iteration are prefetched.
struct Prefetch {
  kernel::StageId stage;
  kernel::ParamId param;
  Expr address;   // over the stage's vector loop
  Expr distance;  // to the same element of the next outer iteration
};

struct Schedule {
  const kernel::Kernel* kernel = nullptr;  // tilings and row blocks own a modified one
  // With one of these, a point is a block of results, or of rows.
  std::optional<Tiling> tiling;
  std::optional<RowBlocks> row_blocks;
  IdVector<kernel::LoopId, Expr> extents;  // of all loops; outer loops may be collapsed
  int n_outer = 0;
  // The last outer loop is vectorised, with the same lanes in every stage; else each stage has its
  // own vector loop.
  bool vector_outer = false;
  int lanes = 1;
  int unroll = 1;
  IdVector<kernel::StageId, ScheduledStage> stages;
  std::vector<SharedRows> shared_rows;
  // Stages for the factors of shared_rows, behind the kernel's own stages.
  std::vector<std::shared_ptr<const kernel::Stage>> factors;
  std::vector<Prefetch> prefetches;
  Expr points;         // number of iterations of all outer loops together
  Expr scratch_bytes;  // per thread
  IdVector<kernel::ParamId, bool>
      may_be_empty;  // it may be loaded from although it has no elements
};

// The schedule refers to the kernel, which must outlive it.
Schedule make_schedule(const kernel::Kernel& kernel, const Target& target,
                       const EmitOptions& options);

LaunchForm launch_form(const Schedule& schedule, const EmitOptions& options);

// A stage with flat addresses and its loops; vector loop and unrolling are not chosen yet.
ScheduledStage flatten(const kernel::Kernel& kernel, const kernel::Stage& stage);

// Chooses the vector loop among the stage's own loops, its lanes and unrolling.
void choose_inner_loop(const Schedule& schedule, ScheduledStage& stage, const Target& target,
                       const EmitOptions& options);

// Visits every index expression of the kernel.
template <typename Function>
void for_each_expr(Schedule& schedule, Function function) {
  for (ScheduledStage& stage : schedule.stages) {
    for (Access& access : stage.access) {
      function(access.address);
      function(access.guarded);
    }
    for (Expr& iota : stage.iota) function(iota);
    function(stage.target.address);
  }
}

// Rounds up to whole cache lines.
inline Expr align64(Expr bytes) { return ceil_div(bytes, 64) * Expr(64); }

// The last outer loop, if there is one.
inline kernel::LoopId last_outer(const Schedule& schedule) {
  return kernel::LoopId::of_number(schedule.n_outer - 1);
}
inline bool may_be_zero(Expr extent) { return extent.lower_bound() < 1; }

// By instruction: whether its value may differ between lanes along a loop. With `locals_vary`, as
// when the outer loop is vectorised, values of other stages may differ too.
std::vector<bool> varying(const ScheduledStage& stage, kernel::LoopId loop, bool locals_vary);

// Approximate number of vector instructions of one copy of a stage's body.
int body_weight(const kernel::Stage& stage);

// Bytes of a value of this dtype in a register and in a local buffer: 16-bit floats are held as
// f32.
int register_bytes(DType dtype);

}  // namespace luminal::backends::cpu
