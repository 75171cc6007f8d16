// ContractionForm: a kernel that is a GEMM, in any layout, with its prologue and epilogue.
//
// No instruction marks such a kernel: its outer loops are the dims of what it stores, some of its
// stages sum products over one more loop, and the others have no loops. The form says which loops
// are rows, columns and batch, so that cost models can predict its speed and back ends can tile it.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// A stage that sums left · right over loop `k`, all in f32. A factor may be any expression over its
// loops: a load, a cast of a 16-bit load, a quantised weight times its scale.
struct Contraction {
  StageId stage;
  InstId left, right;
  LoopId k;
};

// Loops of extent 1 are in no list. The lists are in the order of the loops.
struct ContractionForm {
  std::vector<LoopId> batch;  // used by both factors, or by neither
  std::vector<LoopId> rows;   // used by the left factors alone
  std::vector<LoopId>
      columns;  // used by the right factors alone; the last outer loop is one of them
  std::vector<Contraction> contractions;
};

std::optional<ContractionForm> contraction_form(const Kernel& kernel);

// A stage without loops that computes one instruction of `stage` and what it needs.
Stage factor_stage(const Stage& stage, InstId result);

// Whether an instruction casts from the 16-bit float `from` to f32: products of two such values are
// exact.
bool is_widened(const Stage& stage, InstId id, DType from);

// Multiply-adds that share an element of a right factor's panels: rows times the length of all
// sums.
Expr products_of_column(const Kernel& kernel, const ContractionForm& form);

// The work of a kernel of this form, over the kernel's variables.
struct ContractionWork {
  Expr exact_products;    // bf16 by bf16
  Expr integer_products;  // f32 by factors made of small integers (weight-only quantisation)
  Expr products;          // all others
  Expr other_flops;       // prologue, once per element of a factor, and epilogue
};
ContractionWork work_of(const Kernel& kernel, const ContractionForm& form);

}  // namespace luminal::kernel
