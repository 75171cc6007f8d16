// RowBlocks: how a kernel of rows that share factors is computed, several rows at once.
//
// A block is a range of rows at one point of all other outer loops; blocks are independent. Every
// local buffer is there once for each row of a block. Where a stage is a matrix product, micro
// kernels compute it for all rows: the shared factor lies in panels in scratch memory, where it
// stays for the blocks that follow. All other stages run row by row.
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

// Where the rows of a left factor are.
enum class RowPlace : uint8_t {
  Param,    // in a tensor, as micro kernels read them
  Local,    // in the local buffer of an earlier stage
  Scratch,  // in scratch memory, where each block copies what is summed in one go
};

struct BlockedContraction {
  int stage = -1;  // of the kernel of the blocks
  int column = -1, k = -1;
  Multiply multiply = Multiply::F32;
  MicroShape shape;
  int64_t block_k = 1;  // summed in one go

  int left = -1;  // the stage that computes an element of it
  RowPlace place = RowPlace::Scratch;
  int source = -1;        // Param: the parameter; Local: the stage
  Expr address;           // Param: of element 0 along k, in elements
  Expr row_step, k_step;  // Param: in elements
  // Scratch: element (row, k) is the sum of `parts` terms, each in rows of its own.
  int parts = 1;
  Expr rows, row_pitch;  // offset and bytes

  int right = -1;  // the stage that computes an element of it
  Expr panels, panel_pitch;
};

struct RowBlocks {
  // The kernel, with stages for factors, and sums apart from what is computed of them.
  std::shared_ptr<const kernel::Kernel> kernel;
  std::vector<int> others;  // outer loops but for the rows, outermost first
  int row_loop = -1;
  int64_t rows = 1;  // of a block
  Expr blocks = 1;   // along the row loop
  std::optional<kernel::MaskedRange> masked;
  // What to do, in order: a contraction of all rows, or a stage of each row.
  struct Step {
    int stage;
    int contraction = -1;  // if it is one
  };
  std::vector<Step> steps;
  std::vector<BlockedContraction> contractions;
  std::vector<Expr> pitch;  // by stage: bytes from one row of its buffer to the next
};

// Fills in `schedule` for a kernel of this form.
void block_rows(Schedule& schedule, const kernel::Kernel& kernel, const kernel::RowBlockForm& form,
                const Target& target, const EmitOptions& options);

}  // namespace luminal::backends::cpu
