#include "luminal/kernel/recognise/guarded_loads.h"

#include <algorithm>
#include <cstdint>

namespace luminal::kernel {
namespace {

// What a condition says of an expression: least ≤ e ≤ most.
struct Bound {
  Expr e;
  int64_t least, most;
};

// Adds what follows from a conjunction of comparisons with constants.
void add_bounds(Expr condition, std::vector<Bound>& bounds) {
  if (condition.kind() == ExprKind::And) {
    for (Expr part : condition.operands()) add_bounds(part, bounds);
    return;
  }
  const bool below = condition.kind() == ExprKind::Less;
  if (!below && condition.kind() != ExprKind::GreaterEqual) return;
  const Expr e = condition.operands()[0];
  const std::optional<int64_t> limit = condition.operands()[1].to_int();
  if (!limit) return;
  const auto known = std::ranges::find(bounds, e, &Bound::e);
  Bound& bound = known != bounds.end()
                     ? *known
                     : bounds.emplace_back(Bound{e, e.lower_bound(), e.upper_bound()});
  if (below) {
    bound.most = std::min(bound.most, *limit - 1);
  } else {
    bound.least = std::max(bound.least, *limit);
  }
}

// The value of a wrapped index where the bounds hold: e mod n is e − q · n if the quotient is q
// throughout.
std::optional<Expr> unwrapped(Expr index, const std::vector<Bound>& bounds) {
  if (index.kind() != ExprKind::Mod) return std::nullopt;
  const Expr e = index.operands()[0];
  const std::optional<int64_t> n = index.operands()[1].to_int();
  if (!n || *n <= 0) return std::nullopt;
  for (const Bound& bound : bounds) {
    const std::optional<int64_t> shift = (e - bound.e).to_int();
    int64_t first = 0, last = 0;
    if (!shift || bound.least > bound.most || __builtin_add_overflow(bound.least, *shift, &first) ||
        __builtin_add_overflow(bound.most, *shift, &last)) {
      continue;
    }
    if (first < 0 || first / *n != last / *n) continue;
    return e - Expr(first / *n * *n);
  }
  return std::nullopt;
}

// By instruction: whether the stage needs its value even where `guard` is false. What a select
// takes only where it holds isn't needed there.
std::vector<bool> needed_without(const Stage& stage, InstId guard) {
  std::vector<bool> needed(stage.body.size());
  needed[stage.result.index()] = true;
  if (const auto* update = std::get_if<UpdateTarget>(&stage.target)) {
    needed[update->row.index()] = true;
  }
  for (size_t k = stage.body.size(); k-- > 0;) {
    if (!needed[k]) continue;
    if (const auto* load = std::get_if<LoadInst>(&stage.body[k].what)) {
      for (const Index& index : load->index) {
        if (index.value) needed[index.value->index()] = true;
      }
    } else if (const auto* op = std::get_if<OpInst>(&stage.body[k].what)) {
      const bool guards = op->op == Op::Select && op->operands[0] == guard;
      for (size_t o = 0; o < op->operands.size(); ++o) {
        if (!guards || o != 1) needed[op->operands[o].index()] = true;
      }
    }
  }
  return needed;
}

// The conditions of selects on indices, each once.
std::vector<InstId> conditions(const Stage& stage) {
  std::vector<InstId> found;
  for (const Inst& inst : stage.body) {
    const auto* op = std::get_if<OpInst>(&inst.what);
    if (op == nullptr || op->op != Op::Select) continue;
    const InstId condition = op->operands[0];
    const Inst& computed = stage.body[condition.index()];
    if (!std::holds_alternative<IotaInst>(computed.what) || computed.dtype != DType::Bool) continue;
    if (std::ranges::find(found, condition) == found.end()) found.push_back(condition);
  }
  return found;
}

bool wraps(const Inst& inst) {
  const auto* load = std::get_if<LoadInst>(&inst.what);
  if (load == nullptr) return false;
  if (std::ranges::any_of(load->index,
                          [](const Index& index) { return index.value.has_value(); })) {
    return false;
  }
  return std::ranges::any_of(load->index,
                             [](const Index& index) { return index.expr.kind() == ExprKind::Mod; });
}

// The load under one of its guards.
std::optional<GuardedLoad> guarded_by(const LoadInst& load, InstId guard,
                                      const std::vector<Bound>& bounds) {
  GuardedLoad result{.guard = guard, .index = load.index};
  bool any = false;
  for (Index& index : result.index) {
    const std::optional<Expr> plain = unwrapped(index.expr, bounds);
    if (!plain) continue;
    index.expr = *plain;
    any = true;
  }
  return any ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

std::vector<std::optional<GuardedLoad>> guarded_loads(const Stage& stage) {
  std::vector<std::optional<GuardedLoad>> result(stage.body.size());
  if (std::ranges::none_of(stage.body, wraps)) return result;
  for (InstId guard : conditions(stage)) {
    const std::vector<bool> needed = needed_without(stage, guard);
    std::vector<Bound> bounds;
    add_bounds(std::get<IotaInst>(stage.body[guard.index()].what).expr, bounds);
    for (size_t k = guard.index() + 1; k < stage.body.size(); ++k) {
      if (needed[k] || result[k] || !wraps(stage.body[k])) continue;
      result[k] = guarded_by(std::get<LoadInst>(stage.body[k].what), guard, bounds);
    }
  }
  return result;
}

}  // namespace luminal::kernel
