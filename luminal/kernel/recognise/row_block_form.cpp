#include "luminal/kernel/recognise/row_block_form.h"

#include <algorithm>

#include "luminal/kernel/ir/inst_uses.h"
#include "luminal/kernel/recognise/contraction_form.h"

namespace luminal::kernel {
namespace {

// Fewer rows don't pay for copies of the shared factors.
constexpr int64_t kFewestRows = 8;
// Elements of the shared factors at one point of the other loops, at most: twice the keys and
// values of 32,768 tokens with heads of 64.
constexpr int64_t kMostShared = int64_t{8} << 20;

// A stage that sums products of which one factor depends on its one loop and the other doesn't.
std::optional<RowContraction> as_contraction(const Kernel& kernel, StageId id) {
  const Stage& stage = kernel.stages[id];
  if (!stage.reduction || stage.reduction->running || stage.loops.size() != 1) return {};
  if (stage.reduction->reducer != Reducer::Sum || stage.dtype != DType::F32) return {};
  const Inst& result = stage.body[stage.result.index()];
  const auto* op = std::get_if<OpInst>(&result.what);
  if (op == nullptr || op->op != Op::Mul || result.dtype != DType::F32) return {};
  RowContraction contraction{.stage = id,
                             .left = op->operands[0],
                             .right = op->operands[1],
                             .column = stage.loops[0],
                             .k = stage.reduction->loop};
  InstUses left = uses_of(kernel, stage, contraction.left);
  InstUses right = uses_of(kernel, stage, contraction.right);
  if (left.loops.contains(contraction.column)) {
    std::swap(left, right);
    std::swap(contraction.left, contraction.right);
  }
  if (left.loops.contains(contraction.column) || !right.loops.contains(contraction.column)) {
    return {};
  }
  if (!right.stages.empty() || !right.loops.contains(contraction.k)) return {};
  return contraction;
}

// Elements of a right factor at one point of the outer loops.
int64_t most_shared(const Kernel& kernel, const RowContraction& contraction) {
  return (extent_of(kernel, contraction.k) * extent_of(kernel, contraction.column)).upper_bound();
}

Expr points(const Kernel& kernel, const std::vector<LoopId>& loops) {
  Expr result = 1;
  for (LoopId loop : loops) result = result * extent_of(kernel, loop);
  return result;
}

// Flops of a factor per element along a loop; loop-invariant instructions aren't counted.
int64_t flops_along(const Kernel& kernel, const Stage& stage, InstId id, LoopId loop) {
  const std::vector<bool> needed = needed_for(stage, id);
  int64_t flops = 0;
  for (size_t k = 0; k < needed.size(); ++k) {
    if (!needed[k] || flops_of(stage.body[k]) == 0) continue;
    const auto inst = InstId::at(k);
    if (uses_of(kernel, stage, inst).loops.contains(loop)) flops += flops_of(stage.body[k]);
  }
  return flops;
}

int64_t flops_of_body(const Stage& stage) {
  int64_t flops = stage.reduction ? 1 : 0;
  for (const Inst& inst : stage.body) {
    flops += flops_of(inst);
  }
  return flops;
}

}  // namespace

std::optional<RowBlockForm> row_block_form(const Kernel& kernel) {
  RowBlockForm form{.rows = {}, .contractions = {}};
  IdVector<LoopId, bool> shared(static_cast<size_t>(kernel.n_outer), true);
  int64_t elements = 0;
  for (StageId id : kernel.stages.ids()) {
    const Stage& stage = kernel.stages[id];
    if (std::holds_alternative<UpdateTarget>(stage.target) || copies_shared(kernel, stage)) {
      return {};
    }
    const auto contraction = as_contraction(kernel, id);
    if (!contraction || most_shared(kernel, *contraction) > kMostShared) continue;
    elements += most_shared(kernel, *contraction);
    form.contractions.push_back(*contraction);
    for (LoopId loop : uses_of(kernel, stage, contraction->right).loops) {
      if (is_outer(kernel, loop)) shared[loop] = false;
    }
  }
  if (form.contractions.empty() || elements > kMostShared) return {};
  for (LoopId loop : outer_loops(kernel)) {
    if (!shared[loop]) continue;
    const int64_t n = extent_of(kernel, loop).upper_bound();
    if (n < kFewestRows) continue;
    if (!form.rows.valid() || n >= extent_of(kernel, form.rows).upper_bound()) form.rows = loop;
  }
  return form.rows.valid() ? std::optional(form) : std::nullopt;
}

RowBlockWork work_of(const Kernel& kernel, const RowBlockForm& form) {
  std::vector<LoopId> outer;
  for (LoopId loop : outer_loops(kernel)) outer.push_back(loop);
  const Expr all = points(kernel, outer);
  std::erase(outer, form.rows);
  const Expr others = points(kernel, outer);
  RowBlockWork work;
  work.shared_points = others;
  IdVector<StageId, bool> counted(kernel.stages.size());
  for (const RowContraction& contraction : form.contractions) {
    const Stage& stage = kernel.stages[contraction.stage];
    counted[contraction.stage] = true;
    const Expr n = points(kernel, {contraction.column, contraction.k});
    const bool half = is_widened(stage, contraction.right, DType::BF16);
    const bool exact = half && is_widened(stage, contraction.left, DType::BF16);
    Expr& products = exact ? work.exact_products : half ? work.half_products : work.products;
    products = products + all * n;
    work.shared = work.shared + others * n;
    // bf16 products take bf16 factors, so the casts cost nothing.
    if (exact) continue;
    const int64_t left = flops_along(kernel, stage, contraction.left, contraction.k);
    const int64_t right = half ? 0 : flops_along(kernel, stage, contraction.right, contraction.k);
    work.other_flops =
        work.other_flops + others * n * right + all * extent_of(kernel, contraction.k) * left;
  }
  for (StageId s : kernel.stages.ids()) {
    if (counted[s]) continue;
    const Stage& stage = kernel.stages[s];
    std::vector<LoopId> loops = stage.loops;
    if (stage.reduction) loops.push_back(stage.reduction->loop);
    work.other_flops = work.other_flops + all * points(kernel, loops) * flops_of_body(stage);
  }
  return work;
}

}  // namespace luminal::kernel
