// Schedule: how the CPU runs a kernel: flat addresses, which loop runs across vector lanes, how far
// it is unrolled, and where local buffers lie.
#pragma once

#include <optional>
#include <vector>

#include "luminal/backends/cpu/schedule/launch_form.h"
#include "luminal/backends/cpu/schedule/row_blocks.h"
#include "luminal/backends/cpu/schedule/shared_rows.h"
#include "luminal/backends/cpu/schedule/tiling.h"
#include "luminal/backends/cpu/target/target.h"
#include "luminal/kernel/ir/kernel.h"

namespace luminal::backends::cpu {

// The first bytes of the scratch memory: what is read in place of a tensor without elements. An
// address of 0, give or take one vector, lies inside when counted from their middle. The very first
// are the mark of gathered_rows.h.
inline constexpr int kSpareBytes = 1024;

// Choices for the emitter; none but `contract` changes results.
struct EmitOptions {
  // Large outputs bypass the cache where their stores are whole aligned vectors. The outputs then
  // must start at a multiple of 64 bytes.
  bool nontemporal_stores = false;
  int max_unroll = 4;
  // While one row is computed, the next one's data is on its way from memory.
  bool prefetch = true;
  // Sums take products in without rounding them first, see unrounded.h.
  bool contract = true;
  // Matrix products are computed tile by tile, see tiling.h and row_blocks.h.
  bool tile = true;
  // Marks indices outside of their dims, see gathered_rows.h; off, to see what that costs.
  bool look_at_rows = true;
};

// An element's position in its tensor or local buffer, in elements:
// address + Σ inside(value, extent) · stride, where inside() is a row of the dim in any case.
struct Access {
  struct Gathered {
    kernel::InstId value;
    Expr extent, stride;
  };
  Expr address;
  std::vector<Gathered> gathered;
};

struct ScheduledStage {
  const kernel::Stage* source = nullptr;
  std::vector<Access> access;  // one per instruction, meaningful for Load and Local
  std::vector<Expr> iota;      // one per instruction, meaningful for Iota
  Access target;               // in an output or in the local buffer; the gathered part is a row
  std::vector<int> loops;      // the stage's own loops, outermost first, the reduction's last
  int vector_loop = -1;        // the one of them, or the kernel's, that runs across lanes
  int lanes = 1;
  int unroll = 1;
  bool in_memory = false;  // a local with inner loops: it has a buffer, else it is one value
  Expr local_offset;       // of its buffer in the scratch memory, in bytes
};

// A stream of elements that each outer point reads: while one stage runs over it, the lines of the
// point that comes next are fetched.
struct Prefetch {
  int stage;
  int param;
  Expr address;   // over the stage's vector loop
  Expr distance;  // to the same element of the next point
};

struct Schedule {
  const kernel::Kernel* kernel = nullptr;  // of a tiling and of row blocks, their own
  // A point of the outer loops is a block of results, or of rows.
  std::optional<Tiling> tiling;
  std::optional<RowBlocks> row_blocks;
  std::vector<Expr> extents;  // of all loops; outer ones may be merged into the last outer one
  int n_outer = 0;
  // The last outer loop runs across lanes, the same number in every stage; else each stage has its
  // own vector loop.
  bool vector_outer = false;
  int lanes = 1;
  int unroll = 1;
  std::vector<ScheduledStage> stages;
  std::vector<SharedRows> shared_rows;
  // Stages for their factors, behind the kernel's own.
  std::vector<std::shared_ptr<const kernel::Stage>> factors;
  std::vector<Prefetch> prefetches;
  Expr points;                     // of the outer loops together
  Expr scratch_bytes;              // per thread
  std::vector<bool> may_be_empty;  // per param: a load may happen although it has no elements
};

// The schedule refers to the kernel, which must outlive it.
Schedule make_schedule(const kernel::Kernel& kernel, const Target& target,
                       const EmitOptions& options);

LaunchForm launch_form(const Schedule& schedule, const EmitOptions& options);

// A stage with flat addresses and its loops, nothing chosen yet.
ScheduledStage flatten(const kernel::Kernel& kernel, const kernel::Stage& stage);

// Which of its own loops a stage runs along, and how.
void choose_inner_loop(const Schedule& schedule, ScheduledStage& stage, const Target& target,
                       const EmitOptions& options);

// Every expression of the kernel that is evaluated at a point.
template <typename Function>
void for_each_expr(Schedule& schedule, Function function) {
  for (ScheduledStage& stage : schedule.stages) {
    for (Access& access : stage.access) function(access.address);
    for (Expr& iota : stage.iota) function(iota);
    function(stage.target.address);
  }
}

// Bytes of whole cache lines, as many as it takes.
inline Expr align64(Expr bytes) { return ceil_div(bytes, 64) * Expr(64); }

inline bool may_be_zero(Expr extent) { return extent.lower_bound() < 1; }

// By instruction: whether it may have another value in each lane along a loop. In a kernel that
// runs across its outer loop, values of other stages may.
std::vector<bool> varying(const ScheduledStage& stage, int loop, bool locals_vary);

// About how many vector instructions one copy of a stage's body takes.
int body_weight(const kernel::Stage& stage);

// Bytes of a value of this dtype in a register and in a local buffer: 16-bit floats are held as
// f32.
int register_bytes(DType dtype);

}  // namespace luminal::backends::cpu
