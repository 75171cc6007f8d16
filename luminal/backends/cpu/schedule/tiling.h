// Tiling: how a matrix product is computed, block by block of its results.
//
// A block is a range of rows and columns at one point of all other loops; blocks are independent.
// In it the right factor lies in panels, one vector wide and as long as k, the left one in rows;
// both where they are in memory, if they are there in that order, or else in scratch memory, where
// each block copies what it needs. Micro kernels leave sums in small tiles, and what follows the
// sums is computed of those, row by row.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "luminal/backends/cpu/schedule/micro_shape.h"
#include "luminal/kernel/recognise/contraction_form.h"

namespace luminal::backends::cpu {

struct Target;
struct Schedule;

// A factor of a contraction.
struct TiledFactor {
  int stage = -1;  // of the tiling's kernel: computes an element
  bool in_place = false;
  // In place: element 0 along k at the block's first row or column is at `address` of
  // params[param], in elements; from there it is `step` to the next row, or the next panel, and,
  // for rows, `k_step` to the next k.
  int param = -1;
  Expr address, step, k_step;
  DType narrow = DType::F32;  // of panels that micro kernels widen on the way; see micro_kernel.h
  Expr scratch;               // otherwise: its offset in scratch memory, in bytes
  Expr pitch;                 // and the bytes of a row or a panel there
};

// Small integers that a right factor is made of, in panels as other factors are.
struct TiledIntegers {
  kernel::InstId load;  // in the contraction's stage
  int slope = -1;       // stage that computes what they are multiplied with
  int param = -1;
  DType dtype = DType::I8;
  int depth = 1;       // elements along k that stand in one lane
  Expr address, step;  // of element 0 along k at the block's first column, and to the next panel
};

// A right factor that is never made (see quantised_form.h): its rows are side by side along k.
struct TiledQuantised {
  int64_t block = 1;
  std::vector<TiledIntegers> integers;
  int offset = -1;  // stage that computes what is added, or −1
  Expr row_sums;    // offset in scratch memory of the sums of the block's rows, one per part of k
  // Integers of this dtype are multiplied with the digits of rows (see emit_fixed_point.h), which
  // stand in scratch memory too, as do the units of their parts.
  std::optional<DType> fixed_point;
  Expr digits, units;
  // On tiles (see emit_integer_tiles.h): how many parts rows are the sums of, and offsets in
  // scratch memory of those, of the integers as bf16, and of tiles on their way to the sums.
  int n_row_parts = 3;
  Expr row_parts, panels, tiles;
};

// Of products of integers on tiles: elements along k that a tile holds, and the bytes of a piece of
// memory that fills one; k that a block's columns are made bf16 for; stretches of k that are summed
// at once.
constexpr int64_t kTileDepth = 32;
constexpr int64_t kTilePiece = 1024;
constexpr int64_t kPanelDepth = 256;
constexpr int kStretchesAtOnce = 4;

struct TiledContraction {
  int stage;  // of the tiling's kernel
  int k;      // the loop it sums over
  TiledFactor left, right;
  std::optional<TiledQuantised> quantised;
  // What the right factor's panels are made of, in each run (see emit_integer_panels.h): as far
  // along k as is multiplied in one go.
  std::optional<TiledQuantised> made_of;
  Expr sums;  // offset of the block's sums in scratch memory, in bytes: one tile after another
};

struct Tiling {
  // The kernel, with a stage for each factor behind its own, and no sum that is written to an
  // output by the stage that sums.
  std::shared_ptr<const kernel::Kernel> kernel;
  std::vector<int> others;  // loops that a block is one point of, outermost first
  int row_loop = -1;        // −1: there is one row
  int column_loop = -1;
  Multiply multiply = Multiply::F32;
  bool integers_on_tiles = false;  // of all contractions, in place of `multiply`
  MicroShape shape;
  int lanes = 1;
  int64_t block_rows = 1;
  int64_t block_columns = 1;
  int64_t block_k = 1;     // summed in one go: a panel of it stays in a near cache
  bool same_rows = false;  // all blocks have the same left factors
  Expr row_blocks = 1;
  Expr column_blocks = 1;
  std::vector<TiledContraction> contractions;
  std::vector<int> epilogue;  // the stages that follow the sums, in order
};

// The load that a factor's stage is, in the form that micro kernels read: f32, or bf16 before it is
// widened; neither gathered nor computed. −1: it is.
int plain_load(const kernel::Stage& factor, Multiply multiply);

// Fills in `schedule` for a kernel of this form.
void tile_schedule(Schedule& schedule, const kernel::Kernel& kernel,
                   const kernel::ContractionForm& form, const Target& target);

}  // namespace luminal::backends::cpu
