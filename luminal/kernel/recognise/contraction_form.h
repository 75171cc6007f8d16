// ContractionForm: a kernel that is a matrix product, whatever its layouts, with all that is
// computed of its results.
//
// Such a kernel needs nothing of its own to be written down: its outer loops are all dims of what
// it stores, some of its stages sum products over one more loop, and the others have no loops. The
// form says which loops make rows, columns and batches of it, so that cost models know how fast it
// can be and back ends can compute it tile by tile.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// A stage that sums left · right over loop `k`, all in f32. A factor may be any expression over its
// loops: a load, what a half was cast from, a packed weight times its scale.
struct Contraction {
  int stage;
  InstId left, right;
  int k;
};

// Loops of one step belong nowhere. The lists are in the order of the loops.
struct ContractionForm {
  std::vector<int> batch;    // used by both factors, or by neither
  std::vector<int> rows;     // by the left ones alone
  std::vector<int> columns;  // by the right ones alone; the last outer loop is one of them
  std::vector<Contraction> contractions;
};

std::optional<ContractionForm> contraction_form(const Kernel& kernel);

// A stage that computes one instruction of `stage` and what that needs, without loops of its own.
Stage factor_stage(const Stage& stage, InstId result);

// Whether an instruction is a 16-bit float made f32, so that products with others of its kind are
// exact.
bool is_widened(const Stage& stage, InstId id, DType from);

// The work of a kernel of this form, over the kernel's variables.
struct ContractionWork {
  Expr exact_products;    // of bf16 by bf16
  Expr integer_products;  // of f32 by factors that are made of small integers
  Expr products;          // all others
  Expr other_flops;       // of factors, each element once, and of what follows the sums
};
ContractionWork work_of(const Kernel& kernel, const ContractionForm& form);

}  // namespace luminal::kernel
