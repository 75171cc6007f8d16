#include "luminal/kernel/recognise/masked_range.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "luminal/kernel/ir/inst_uses.h"

namespace luminal::kernel {
namespace {

// What an instruction is known to yield at masked points.
enum class Hidden : uint8_t { Anything, MinusInfinity, Zero };

class MaskFinder {
 public:
  MaskFinder(const Kernel& kernel, LoopId rows) : kernel_(kernel), rows_(rows) {}

  std::optional<MaskedRange> run() {
    if (!find_mask() || !find_loops() || !all_stages_agree()) return {};
    MaskedRange range;
    range.mask = mask_;
    range.mask_loop = mask_loop_;
    range.loops.assign(loops_.begin(), loops_.end());
    range.decides = true;
    if (mask_.kind() == ExprKind::And) {
      for (Expr part : mask_.operands()) range.decides &= add_bound(part, range);
    } else {
      range.decides = add_bound(mask_, range);
    }
    if (range.first.empty() && range.last.empty()) return {};
    return range;
  }

 private:
  Expr index(LoopId loop) const { return index_of(kernel_, loop); }

  // The loops of a stage that may be restricted to the range.
  std::vector<LoopId> ranged(const Stage& stage) const {
    std::vector<LoopId> result;
    for (LoopId loop : stage.loops) {
      if (loops_.contains(loop)) result.push_back(loop);
    }
    if (stage.reduction && loops_.contains(stage.reduction->loop)) {
      result.push_back(stage.reduction->loop);
    }
    return result;
  }

  // Finds the mask: the condition of a select between a value and −inf, over one inner loop.
  bool find_mask() {
    for (const Stage& stage : kernel_.stages) {
      for (const Inst& inst : stage.body) {
        const auto* op = std::get_if<OpInst>(&inst.what);
        if (op == nullptr || op->op != Op::Select || !is_minus_infinity(stage, op->operands[2])) {
          continue;
        }
        const auto* iota = std::get_if<IotaInst>(&stage.body[op->operands[0].index()].what);
        if (iota == nullptr) continue;
        const auto uses = uses_of(kernel_, stage, op->operands[0]).loops;
        std::vector<LoopId> inner;
        std::ranges::copy_if(uses, std::back_inserter(inner),
                             [&](LoopId loop) { return !is_outer(kernel_, loop); });
        if (inner.size() != 1) continue;
        mask_ = iota->expr;
        mask_loop_ = inner[0];
        loops_.insert(mask_loop_);
        return true;
      }
    }
    return false;
  }

  // Adds all loops that index the same dims of local buffers. False if such a dim is indexed by
  // anything but an inner loop.
  bool find_loops() {
    for (size_t before = 0; before != loops_.size();) {
      before = loops_.size();
      for (const Stage& stage : kernel_.stages) {
        for (const Inst& inst : stage.body) {
          const auto* local = std::get_if<LocalInst>(&inst.what);
          if (local == nullptr) continue;
          const auto dims = buffer_loops(kernel_.stages[local->stage]);
          for (size_t d = 0; d < dims.size(); ++d) {
            const Expr at = local->index[d];
            const bool along = at.kind() == ExprKind::Index;
            if (along && loops_.contains(loop_of(at))) loops_.insert(dims[d]);
            if (!loops_.contains(dims[d])) continue;
            if (!along || is_outer(kernel_, loop_of(at))) return false;
            loops_.insert(loop_of(at));
          }
        }
      }
    }
    return std::ranges::all_of(loops_, [&](LoopId loop) {
      return extent_of(kernel_, loop) == extent_of(kernel_, mask_loop_);
    });
  }

  // Whether no masked point is stored, and none changes what is stored.
  bool all_stages_agree() {
    for (const Stage& stage : kernel_.stages) {
      hidden_.push_back(Hidden::Anything);
      const std::vector<LoopId> here = ranged(stage);
      if (here.empty()) continue;
      if (here.size() > 1) return false;
      const std::vector<Hidden> values = hidden_values(stage, here[0]);
      const Hidden result = values[stage.result.index()];
      const bool reduced = stage.reduction && stage.reduction->loop == here[0];
      if (!reduced) {
        if (!std::holds_alternative<LocalTarget>(stage.target)) return false;
        if (!stage.reduction) hidden_.back() = result;
        continue;
      }
      if (stage.reduction->running) return false;
      const bool adds_nothing =
          (stage.reduction->reducer == Reducer::Max && result == Hidden::MinusInfinity) ||
          (stage.reduction->reducer == Reducer::Sum && result == Hidden::Zero);
      if (!adds_nothing) return false;
    }
    return true;
  }

  std::vector<Hidden> hidden_values(const Stage& stage, LoopId loop) const {
    std::vector<Hidden> values;
    for (const Inst& inst : stage.body) {
      Hidden value = Hidden::Anything;
      if (const auto* local = std::get_if<LocalInst>(&inst.what)) {
        const bool same_point =
            std::ranges::any_of(local->index, [&](Expr e) { return e == index(loop); });
        if (same_point) value = hidden_[local->stage];
      } else if (const auto* op = std::get_if<OpInst>(&inst.what)) {
        value = hidden_result(stage, *op, loop, values);
      } else if (is_minus_infinity(inst)) {
        value = Hidden::MinusInfinity;
      }
      values.push_back(value);
    }
    return values;
  }

  Hidden hidden_result(const Stage& stage, const OpInst& op, LoopId loop,
                       const std::vector<Hidden>& values) const {
    auto of = [&](size_t k) { return values[op.operands[k].index()]; };
    auto either = [&](Hidden kind) { return of(0) == kind || of(1) == kind; };
    switch (op.op) {
      case Op::Cast:
        return is_float(stage.body[op.operands[0].index()].dtype) ? of(0) : Hidden::Anything;
      case Op::Select:
        if (of(2) == of(1) || is_mask(stage, op.operands[0], loop)) return of(2);
        return Hidden::Anything;
      case Op::Exp2:
        return of(0) == Hidden::MinusInfinity ? Hidden::Zero : Hidden::Anything;
      case Op::Mul:
        if (either(Hidden::Zero)) return Hidden::Zero;
        for (size_t k : {size_t{0}, size_t{1}}) {
          if (of(k) == Hidden::MinusInfinity && is_positive(stage, op.operands[1 - k]))
            return of(k);
        }
        return Hidden::Anything;
      case Op::Add:
        // −inf − m is NaN only where m is −inf or NaN. If m is the maximum of the row, then all
        // visible points are NaN as well.
        for (size_t k : {size_t{0}, size_t{1}}) {
          if (of(k) == Hidden::MinusInfinity && is_of_greatest(stage, op.operands[1 - k])) {
            return of(k);
          }
        }
        return Hidden::Anything;
      default:
        return Hidden::Anything;
    }
  }

  static bool is_minus_infinity(const Inst& inst) {
    const auto* constant = std::get_if<ConstInst>(&inst.what);
    return constant != nullptr && is_float(inst.dtype) && std::isinf(constant->real) &&
           constant->real < 0;
  }
  static bool is_minus_infinity(const Stage& stage, InstId id) {
    return is_minus_infinity(stage.body[id.index()]);
  }
  static bool is_positive(const Stage& stage, InstId id) {
    const auto* constant = std::get_if<ConstInst>(&stage.body[id.index()].what);
    return constant != nullptr && constant->real > 0;
  }

  bool is_mask(const Stage& stage, InstId id, LoopId loop) const {
    const auto* iota = std::get_if<IotaInst>(&stage.body[id.index()].what);
    return iota != nullptr && iota->expr == mask_.substitute(index(mask_loop_), index(loop));
  }

  // Whether a value is computed from maxima over the range and constants alone.
  bool is_of_greatest(const Stage& stage, InstId id) const {
    const InstUses uses = uses_of(kernel_, stage, id);
    if (uses.loads || !uses.loops.empty() || uses.stages.empty()) return false;
    return std::ranges::all_of(uses.stages, [&](StageId read) {
      const auto& reduction = kernel_.stages[read].reduction;
      return reduction && reduction->reducer == Reducer::Max && loops_.contains(reduction->loop);
    });
  }

  // The coefficient of a loop's index in a sum; nullopt if the index is used in another way.
  std::optional<int64_t> coefficient(Expr e, LoopId loop) const {
    if (!uses_loop(e, loop)) return 0;
    if (e == index(loop)) return 1;
    if (e.kind() != ExprKind::Sum) return std::nullopt;
    std::optional<int64_t> result;
    for (size_t k = 0; k < e.operands().size(); ++k) {
      if (!uses_loop(e.operands()[k], loop)) continue;
      if (e.operands()[k] != index(loop)) return std::nullopt;
      result = e.coefficients()[k];
    }
    return result;
  }

  // Turns a ≥ b or a < b into a bound on the mask's loop, if its index has the coefficient 1 or −1.
  // False for any other condition.
  bool add_bound(Expr condition, MaskedRange& range) const {
    Expr rest;  // ≥ 0 where the condition holds
    if (condition.kind() == ExprKind::GreaterEqual) {
      rest = condition.operands()[0] - condition.operands()[1];
    } else if (condition.kind() == ExprKind::Less) {
      rest = condition.operands()[1] - condition.operands()[0] - 1;
    } else {
      return false;
    }
    const auto step = coefficient(rest, mask_loop_);
    if (!step || std::abs(*step) != 1) return false;
    const Expr others = rest - index(mask_loop_) * Expr(*step);
    const auto by_row = coefficient(others, rows_);
    if (!by_row) return false;
    if (*step == -1) range.last.push_back({others, *by_row > 0});
    if (*step == 1) range.first.push_back({-others, *by_row < 0});
    return true;
  }

  const Kernel& kernel_;
  const LoopId rows_;
  Expr mask_;
  LoopId mask_loop_;
  std::set<LoopId> loops_;
  IdVector<StageId, Hidden> hidden_;  // what its buffer holds at masked points
};

}  // namespace

std::optional<MaskedRange> masked_range(const Kernel& kernel, LoopId rows) {
  return MaskFinder(kernel, rows).run();
}

}  // namespace luminal::kernel
