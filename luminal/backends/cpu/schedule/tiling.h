// Tiling: the schedule of a GEMM: blocks of results, each computed in tiles by micro kernels.
//
// A block is a range of rows and columns at one point of all other loops; blocks are independent.
// The right factor is read as packed B panels, one vector wide and as long as k; the left one as
// rows. Each is read in place if its layout in memory allows that, else from scratch memory, where
// each block packs what it needs. Micro kernels leave sums in small tiles; the epilogue is computed
// from these, row by row.
//
// Example: a 1024 × 1024 product of f32 on AVX-512, k = 4096. A micro kernel computes 8 rows × 3
// panels of 16 columns in registers; a block is 128 rows × 384 columns, so there are 8 × 3 blocks.
//   for each block: pack rows and panels that aren't readable in place
//     for k in steps of 1024: for each 8 × 48 tile: sums += rows · panels
//     for each tile: epilogue (bias, activation, …), store
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "luminal/backends/cpu/schedule/micro_shape.h"
#include "luminal/backends/cpu/schedule/windows.h"
#include "luminal/kernel/recognise/contraction_form.h"

namespace luminal::backends::cpu {

struct EmitOptions;
struct Target;
struct Schedule;

// A factor of a contraction.
struct TiledFactor {
  kernel::StageId stage;  // of the tiling's kernel: computes one element
  bool in_place = false;
  bool in_panels = false;  // rows in place, panels of as many rows as a vector has lanes
  // In place: element 0 along k at the block's first row or column is at `address` of
  // params[param], in elements. `step` is the stride to the next row or panel, `k_step` (rows only)
  // the stride along k.
  kernel::ParamId param;
  Expr address, step, k_step;
  DType narrow = DType::F32;  // dtype of panels that micro kernels widen on load
  Expr scratch;               // otherwise: its offset in scratch memory, in bytes
  Expr pitch;                 // and the leading dimension there: bytes per row or panel
};

// The integers of a quantised right factor, in packed panels like other factors.
struct TiledIntegers {
  kernel::InstId load;    // in the contraction's stage
  kernel::StageId slope;  // stage that computes their scale
  kernel::ParamId param;
  DType dtype = DType::I8;
  int depth = 1;       // consecutive elements along k in one lane
  Expr address, step;  // of element 0 along k at the block's first column; stride between panels
};

// A right factor that is never dequantised in memory (see quantised_form.h). The rows that it is
// multiplied with must be contiguous along k.
struct TiledQuantised {
  int64_t block = 1;  // size of a quantisation group along k
  std::vector<TiledIntegers> integers;
  kernel::StageId offset;  // computes the added offset (zero point), if there is one
  Expr row_sums;           // offset in scratch memory of the block's row sums, one per group
  // Integers of this dtype are multiplied with the int8 split of rows (see emit_fixed_point.h): its
  // digits and the unit of each group are in scratch memory too.
  std::optional<DType> fixed_point;
  Expr digits, units;
  // On AMX (see emit_integer_tiles.h): the number of bf16 terms that rows are split into, and
  // offsets in scratch memory of these, of the integers as bf16, and of tiles of partial sums.
  int n_row_parts = 3;
  Expr row_parts, panels, tiles;
};

// For quantised products on AMX: elements along k per tile; bytes of a tile in memory; block size
// along k for which integers are converted to bf16; quantisation groups summed at once.
constexpr int64_t kTileDepth = 32;
constexpr int64_t kTilePiece = 1024;
constexpr int64_t kPanelDepth = 256;
constexpr int kStretchesAtOnce = 4;

struct TiledContraction {
  kernel::StageId stage;  // of the tiling's kernel
  kernel::LoopId k;       // the reduction loop
  TiledFactor left, right;
  std::optional<TiledQuantised> quantised;
  // A quantised right factor that is dequantised to bf16 panels in each run, block_k at a time (see
  // emit_integer_panels.h).
  std::optional<TiledQuantised> made_of;
  std::optional<TiledWindows> windows;  // of the right factor, instead of panels
  // The right factor is that of an earlier contraction (its position): a block packs it once.
  std::optional<size_t> same_panels;
  Expr sums;  // offset in scratch memory of the block's sums, tile after tile
};

struct Tiling {
  // The kernel, with a stage for each factor behind its own stages. Stages that sum never write to
  // an output: an epilogue stage does.
  std::shared_ptr<const kernel::Kernel> kernel;
  std::vector<kernel::LoopId>
      others;               // batch loops: a block is at one point of them; outermost first
  kernel::LoopId row_loop;  // none: one row (GEMV)
  kernel::LoopId column_loop;
  Multiply multiply = Multiply::F32;
  bool integers_on_tiles = false;  // all contractions are quantised and run on AMX; no `multiply`
  MicroShape shape;
  int lanes = 1;
  int64_t block_rows = 1;
  int64_t block_columns = 1;
  int64_t block_k = 1;  // block size along k, so that panels stay in the L1 or L2 cache
  // Of windows: a block has lines of columns, and block_columns positions; see windows.h.
  std::optional<WindowLines> windows;
  int64_t unroll_k = 0;  // elements of a quantised group at once; 0: as many as the method does
  int64_t prefetch_bytes = kPanelBytesAhead;
  bool same_rows = false;  // all blocks have the same left factors
  Expr row_blocks = 1;
  Expr column_blocks = 1;
  std::vector<TiledContraction> contractions;
  std::vector<kernel::StageId> epilogue;  // the stages that follow the sums, in order
};

// The instruction of a factor's stage that micro kernels can read directly: a load of f32, or of
// bf16 under a cast to f32, without gathered indices. None if the factor is anything else.
kernel::InstId plain_load(const kernel::Stage& factor, Multiply multiply);

// Fills in `schedule` for a kernel of this form.
void tile_schedule(Schedule& schedule, const kernel::Kernel& kernel,
                   const kernel::ContractionForm& form, const Target& target,
                   const EmitOptions& options);

// The sums of a block and block_k elements of each factor stay in the L2 cache.
constexpr int64_t kSumBytes = 256 << 10;
constexpr int64_t kTileBlockK = 1024;
static_assert(kTileBlockK % kTileDepth == 0);
// Enough blocks to balance the load of all threads.
constexpr int64_t kEnoughBlocks = 16;

inline int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace luminal::backends::cpu
