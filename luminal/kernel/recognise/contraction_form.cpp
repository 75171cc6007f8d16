#include "luminal/kernel/recognise/contraction_form.h"

#include <algorithm>

#include "luminal/kernel/ir/inst_uses.h"
#include "luminal/kernel/recognise/forms.h"
#include "luminal/kernel/recognise/quantised_form.h"

namespace luminal::kernel {
namespace {

// The two factors of a stage that sums products, in their written order.
std::optional<Contraction> as_contraction(const Stage& stage, StageId id) {
  const Reduction& reduction = *stage.reduction;
  if (reduction.running || reduction.reducer != Reducer::Sum || stage.dtype != DType::F32)
    return {};
  const Inst& result = stage.body[stage.result.index()];
  const auto* op = std::get_if<OpInst>(&result.what);
  if (op == nullptr || op->op != Op::Mul || result.dtype != DType::F32) return {};
  return Contraction{
      .stage = id, .left = op->operands[0], .right = op->operands[1], .k = reduction.loop};
}

// Sorts the outer loops of one contraction into rows, columns and batch; swaps its factors if the
// last loop is the left one's. nullopt if the last loop is in both factors or in neither: no column
// to run along.
std::optional<ContractionForm> split_loops(const Kernel& kernel, Contraction contraction) {
  const Stage& stage = kernel.stages[contraction.stage];
  InstUses left = uses_of(kernel, stage, contraction.left);
  InstUses right = uses_of(kernel, stage, contraction.right);
  if (!left.stages.empty() || !right.stages.empty()) return {};
  LoopId last;
  for (LoopId loop : outer_loops(kernel)) {
    if (!extent_of(kernel, loop).is(1)) last = loop;
  }
  if (!last.valid() || left.loops.contains(last) == right.loops.contains(last)) return {};
  if (left.loops.contains(last)) {
    std::swap(left, right);
    std::swap(contraction.left, contraction.right);
  }
  ContractionForm form;
  for (LoopId loop : outer_loops(kernel)) {
    if (extent_of(kernel, loop).is(1)) continue;
    const bool in_left = left.loops.contains(loop), in_right = right.loops.contains(loop);
    (in_left == in_right ? form.batch : in_left ? form.rows : form.columns).push_back(loop);
  }
  form.contractions.push_back(contraction);
  return form;
}

Expr count(const Kernel& kernel, const std::vector<LoopId>& loops) {
  Expr result = 1;
  for (LoopId loop : loops) result = result * extent_of(kernel, loop);
  return result;
}

// Flops per column to make a right factor. Integers are converted one by one; slopes (scales) and
// offsets are computed once per quantisation group along k.
Expr right_flops(const Kernel& kernel, const Contraction& contraction) {
  const Stage& stage = kernel.stages[contraction.stage];
  const Expr k = count(kernel, {contraction.k});
  const auto quantised = quantised_form(kernel, contraction);
  if (!quantised) return k * uses_of(kernel, stage, contraction.right).flops;
  int64_t per_part = 0;
  auto take = [&](const Stage& part) { per_part += uses_of(kernel, part, part.result).flops; };
  for (const QuantisedTerm& term : quantised->terms) take(term.slope);
  if (quantised->offset) take(*quantised->offset);
  return k * static_cast<int64_t>(quantised->terms.size()) + k / quantised->block * per_part;
}

}  // namespace

std::optional<ContractionForm> contraction_form(const Kernel& kernel) {
  std::optional<ContractionForm> form;
  for (StageId id : kernel.stages.ids()) {
    const Stage& stage = kernel.stages[id];
    if (!stage.loops.empty() || std::holds_alternative<UpdateTarget>(stage.target)) return {};
    if (!stage.reduction) continue;
    const auto contraction = as_contraction(stage, id);
    if (!contraction) return {};
    auto split = split_loops(kernel, *contraction);
    if (!split) return {};
    if (!form) {
      form = std::move(split);
    } else if (split->rows == form->rows && split->columns == form->columns) {
      form->contractions.push_back(split->contractions.front());
    } else {
      return {};
    }
  }
  return form;
}

Stage factor_stage(const Stage& stage, InstId result) {
  const std::vector<bool> needed = needed_for(stage, result);
  Stage factor{.dtype = stage.body[result.index()].dtype,
               .loops = {},
               .reduction = {},
               .body = {},
               .result = {},
               .target = LocalTarget{}};
  std::vector<InstId> renumbered(stage.body.size());
  for (size_t k = 0; k < stage.body.size(); ++k) {
    if (!needed[k]) continue;
    renumbered[k] = InstId::at(factor.body.size());
    Inst inst = stage.body[k];
    if (auto* op = std::get_if<OpInst>(&inst.what)) {
      for (InstId& operand : op->operands) operand = renumbered[operand.index()];
    } else if (auto* load = std::get_if<LoadInst>(&inst.what)) {
      for (Index& index : load->index) {
        if (index.value) index.value = renumbered[index.value->index()];
      }
    }
    factor.body.push_back(std::move(inst));
  }
  factor.result = renumbered[result.index()];
  return factor;
}

bool is_widened(const Stage& stage, InstId id, DType from) {
  const Inst& inst = stage.body[id.index()];
  const auto* op = std::get_if<OpInst>(&inst.what);
  return op != nullptr && op->op == Op::Cast && inst.dtype == DType::F32 &&
         stage.body[op->operands[0].index()].dtype == from;
}

Expr products_of_column(const Kernel& kernel, const ContractionForm& form) {
  Expr length = 0;
  for (const Contraction& contraction : form.contractions) {
    length = length + extent_of(kernel, contraction.k);
  }
  return count(kernel, form.rows) * length;
}

ContractionWork work_of(const Kernel& kernel, const ContractionForm& form) {
  ContractionWork work;
  const Expr batch = count(kernel, form.batch);
  const Expr rows = count(kernel, form.rows);
  const Expr columns = count(kernel, form.columns);
  const auto& windows = forms_of(kernel).windows;
  for (size_t c = 0; c < form.contractions.size(); ++c) {
    const Contraction& contraction = form.contractions[c];
    // Elements of an image count once, not once per window that sees them.
    const int64_t seen = windows ? windows->forms[c].period : 1;
    const Stage& stage = kernel.stages[contraction.stage];
    const Expr k = count(kernel, {contraction.k});
    const bool exact = is_widened(stage, contraction.left, DType::BF16) &&
                       is_widened(stage, contraction.right, DType::BF16);
    const bool integers = !exact && has_small_integers(kernel, contraction);
    Expr& products = exact ? work.exact_products : integers ? work.integer_products : work.products;
    products = products + batch * rows * columns * k;
    // bf16 products take bf16 factors, so the casts cost nothing.
    if (exact) continue;
    work.other_flops = work.other_flops +
                       batch * rows * k * uses_of(kernel, stage, contraction.left).flops +
                       batch * columns * right_flops(kernel, contraction) / seen;
  }
  for (const Stage& stage : kernel.stages) {
    if (stage.reduction) continue;
    int64_t flops = 0;
    for (const Inst& inst : stage.body) {
      flops += flops_of(inst);
    }
    work.other_flops = work.other_flops + batch * rows * columns * flops;
  }
  return work;
}

}  // namespace luminal::kernel
