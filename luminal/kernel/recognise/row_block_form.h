// RowBlockForm: a kernel that suits flash-attention blocking. It computes rows, one per point of an
// outer loop, with matrix products of which all rows share one factor.
//
// Such a kernel may compute a block of rows at once, so that the shared factors are read once per
// block. The form says which loop the rows are, so that cost models can predict the speed and back
// ends can block it. In attention with outer loops i0 (head) and i1 (query):
//
//   s0: score[j] = Σ_d q[i0, i1, d] · key[i0, j, d]    key doesn't depend on i1
//   s1, s2: maximum over j, weight[j] = exp2(score[j] − maximum)
//   s3: out[d] = Σ_j weight[j] · value[i0, j, d]       value doesn't depend on i1
//   rows = i1, contractions = {s0 with column j, s3 with column d}
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// A stage that sums left · right over loop `k` at each point of its one inner loop `column`, all in
// f32. The right factor is the same in all rows, the left one in all columns.
struct RowContraction {
  StageId stage;
  InstId left, right;
  LoopId column;
  LoopId k;
};

struct RowBlockForm {
  LoopId rows;  // the outer loop of the rows, of extent 8 or more, or possibly so
  std::vector<RowContraction> contractions;
};

// nullopt if nothing is shared, if the kernel updates rows of its output, or if the shared factors
// are too large to be copied.
std::optional<RowBlockForm> row_block_form(const Kernel& kernel);

// The work of a kernel of this form, over the kernel's variables.
struct RowBlockWork {
  Expr exact_products;  // bf16 by bf16
  Expr half_products;   // f32 by bf16
  Expr products;        // all others
  Expr shared_points;   // points of the other outer loops: each has its own shared factors
  Expr shared;          // elements of all shared factors
  Expr other_flops;     // of factors, each element once, and of all other stages
};
RowBlockWork work_of(const Kernel& kernel, const RowBlockForm& form);

}  // namespace luminal::kernel
