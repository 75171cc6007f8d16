#include "luminal/backends/cpu/schedule/guarded_loads.h"

#include <algorithm>
#include <cstdint>

namespace luminal::backends::cpu {
namespace {

using kernel::Inst;
using kernel::InstId;
using kernel::Stage;

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

// The instructions that read `id`.
std::vector<InstId> readers(const Stage& stage, InstId id) {
  std::vector<InstId> found;
  for (size_t k = 0; k < stage.body.size(); ++k) {
    const auto* op = std::get_if<kernel::OpInst>(&stage.body[k].what);
    if (op == nullptr) continue;
    const auto reads = std::ranges::count(op->operands, id);
    found.insert(found.end(), static_cast<size_t>(reads), InstId::at(k));
  }
  return found;
}

// Whether the value says which row a gather reads or a scatter writes.
bool is_row(const Stage& stage, InstId value) {
  const auto* update = std::get_if<kernel::UpdateTarget>(&stage.target);
  if (update != nullptr && update->row == value) return true;
  return std::ranges::any_of(stage.body, [&](const Inst& inst) {
    const auto* load = std::get_if<kernel::LoadInst>(&inst.what);
    return load != nullptr && std::ranges::any_of(load->index, [&](const kernel::Index& index) {
             return index.value == value;
           });
  });
}

// The condition under which a select takes the value, if it is all that reads it.
InstId guard_of(const Stage& stage, InstId value) {
  while (value != stage.result && !is_row(stage, value)) {
    const std::vector<InstId> by = readers(stage, value);
    if (by.size() != 1) return {};
    const auto& reader = std::get<kernel::OpInst>(stage.body[by[0].index()].what);
    if (reader.op == Op::Select && reader.operands[1] == value) return reader.operands[0];
    if (reader.op != Op::Cast) return {};
    value = by[0];
  }
  return {};
}

std::optional<GuardedLoad> guarded(const Stage& stage, InstId id) {
  const auto* load = std::get_if<kernel::LoadInst>(&stage.body[id.index()].what);
  const auto wraps = [](const kernel::Index& index) {
    return !index.value && index.expr.kind() == ExprKind::Mod;
  };
  if (load == nullptr || std::ranges::none_of(load->index, wraps)) return std::nullopt;
  if (std::ranges::any_of(load->index, [](const auto& index) { return index.value.has_value(); })) {
    return std::nullopt;
  }
  const InstId guard = guard_of(stage, id);
  if (!guard.valid() || !(guard < id)) return std::nullopt;
  const auto* condition = std::get_if<kernel::IotaInst>(&stage.body[guard.index()].what);
  if (condition == nullptr || stage.body[guard.index()].dtype != DType::Bool) return std::nullopt;
  std::vector<Bound> bounds;
  add_bounds(condition->expr, bounds);
  GuardedLoad result{.guard = guard, .index = load->index};
  bool any = false;
  for (kernel::Index& index : result.index) {
    const std::optional<Expr> plain = unwrapped(index.expr, bounds);
    if (!plain) continue;
    index.expr = *plain;
    any = true;
  }
  return any ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace

std::vector<std::optional<GuardedLoad>> guarded_loads(const Stage& stage) {
  std::vector<std::optional<GuardedLoad>> result;
  for (size_t k = 0; k < stage.body.size(); ++k) result.push_back(guarded(stage, InstId::at(k)));
  return result;
}

}  // namespace luminal::backends::cpu
