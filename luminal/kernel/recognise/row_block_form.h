// RowBlockForm: a kernel that computes rows, one per point of an outer loop, with matrix products
// on the way that all rows share one factor of. Attention is one: scores of a query are a product
// of all keys, what it gives is one of all values.
//
// Such a kernel may compute several rows at once, so that the shared factors are read once for all
// of them. The form says which loop the rows are, so that cost models know how fast the kernel can
// be and back ends can compute it block by block.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// A stage that sums left · right over loop `k` at each point of its one inner loop `column`, all in
// f32. The right factor is the same in all rows, the left one in all columns.
struct RowContraction {
  int stage;
  InstId left, right;
  int column;
  int k;
};

struct RowBlockForm {
  int rows;  // the outer loop; it has more than a few points, or may have
  std::vector<RowContraction> contractions;
};

// None where nothing is shared, where a kernel updates rows of its output, and where the shared
// factors are so large that copies of them would be a burden.
std::optional<RowBlockForm> row_block_form(const Kernel& kernel);

// The work of a kernel of this form, over the kernel's variables.
struct RowBlockWork {
  Expr exact_products;  // of bf16 by bf16
  Expr half_products;   // of f32 by bf16
  Expr products;        // all others
  Expr shared_points;   // of the other loops: each has its own shared factors
  Expr shared;          // elements of all of those
  Expr other_flops;     // of factors, each element once, and of all other stages
};
RowBlockWork work_of(const Kernel& kernel, const RowBlockForm& form);

}  // namespace luminal::kernel
