// RowBlocks: the schedule of flash-attention blocking: a kernel whose rows share factors of matrix
// products is computed for several rows at once.
//
// A block is a range of rows at one point of all other outer loops; blocks are independent. Local
// buffers exist once per row of a block. Contractions are computed for all rows by micro kernels,
// with the shared factor packed into panels in scratch memory, where it stays for the following
// blocks. All other stages run row by row. For attention, with blocks of 32 queries:
//
//   for each head, for each block of queries i … i + 31:   (K and V are packed once per head)
//     s[32, keys] = q[32, d] · K^T              one micro-kernel GEMM
//     m = max(s); p = exp2(s − m); l = Σ p      row by row; p overwrites s
//     o[32, d] = p · V                          one micro-kernel GEMM
//     out = o / l                               row by row, as o's epilogue
//
// Unlike FlashAttention there is no online softmax: a block holds the scores of all its keys.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "luminal/backends/cpu/schedule/micro_shape.h"
#include "luminal/kernel/recognise/masked_range.h"
#include "luminal/kernel/recognise/row_block_form.h"

namespace luminal::backends::cpu {

struct EmitOptions;
struct Schedule;
struct Target;

// Where micro kernels read the rows of a left factor.
enum class RowPlace : uint8_t {
  Param,    // in place, in a tensor
  Local,    // in the local buffer of an earlier stage
  Scratch,  // in scratch memory: each block copies block_k elements of its rows at a time
};

struct BlockedContraction {
  kernel::StageId stage;  // of the kernel of the blocks
  kernel::LoopId column, k;
  Multiply multiply = Multiply::F32;
  MicroShape shape;
  int64_t block_k = 1;  // block size along k

  kernel::StageId left;  // the stage that computes one element of the left factor
  RowPlace place = RowPlace::Scratch;
  kernel::ParamId param;  // Param
  kernel::StageId local;  // Local
  Expr address;           // Param: of element 0 along k, in elements
  Expr row_step, k_step;  // Param: in elements
  // Scratch: element (row, k) is the sum of `parts` bf16 terms, each stored in its own rows.
  int parts = 1;
  Expr rows, row_pitch;  // offset, and leading dimension in bytes

  kernel::StageId right;  // the stage that computes one element of the right factor
  Expr panels, panel_pitch;
};

struct RowBlocks {
  // The kernel, with extra stages for factors, and with epilogues split from their contractions.
  std::shared_ptr<const kernel::Kernel> kernel;
  std::vector<kernel::LoopId> others;  // outer loops except that of the rows, outermost first
  kernel::LoopId row_loop;
  int64_t rows = 1;  // of a block
  Expr blocks = 1;   // along the row loop
  std::optional<kernel::MaskedRange> masked;
  // The steps of a block, in order: a contraction over all rows, or a stage row by row.
  struct Step {
    kernel::StageId stage;
    int contraction = -1;  // if it is one
  };
  std::vector<Step> steps;
  std::vector<BlockedContraction> contractions;
  IdVector<kernel::StageId, Expr> pitch;  // leading dimension of its buffer in bytes
};

// Fills in `schedule` for a kernel of this form.
void block_rows(Schedule& schedule, const kernel::Kernel& kernel, const kernel::RowBlockForm& form,
                const Target& target, const EmitOptions& options);

}  // namespace luminal::backends::cpu
