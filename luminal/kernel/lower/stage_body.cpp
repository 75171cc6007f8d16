#include "luminal/kernel/lower/stage_body.h"

#include <algorithm>

namespace luminal::kernel {

InstId StageBody::add(DType dtype, decltype(Inst::what) what) {
  stage_.body.push_back({dtype, std::move(what)});
  return InstId::at(stage_.body.size() - 1);
}

InstId StageBody::value(InstanceId i) {
  if (auto it = done_.find(i); it != done_.end()) return it->second;
  const InstanceId group = builder_.forms().group_of(i);
  const InstId id = builder_.is_head(group) ? local(i, group, std::nullopt) : compute(i);
  done_[i] = id;
  return id;
}

// Reads the buffer of another stage. With `element`, reads that element of a scan's row instead of
// the one at its loop's index.
InstId StageBody::local(InstanceId i, InstanceId group, std::optional<Expr> element) {
  const StageId number = builder_.stage_of(group);
  // The buffer's dims, in its order, indexed by the loops of this use.
  const Form& stored = builder_.forms().of(group);
  const Form& used = builder_.forms().of(i);
  std::vector<Expr> index;
  for (LoopId loop : stored.sorted_loops()) {
    const auto position = static_cast<size_t>(
        std::find(stored.loops.begin(), stored.loops.end(), loop) - stored.loops.begin());
    const LoopId mine = used.loops[position];
    const bool along_row = element && loop == builder_.at(group).reduce_loop;
    index.push_back(along_row ? *element : index_of(mine, builder_.instances().loops[mine].extent));
  }
  return add(builder_.graph().at(builder_.at(i).value).dtype, LocalInst{number, std::move(index)});
}

InstId StageBody::compute(InstanceId i) {
  const Instance& instance = builder_.at(i);
  const DType dtype = builder_.graph().at(instance.value).dtype;
  if (instance.load) {
    LoadInst load{.param = builder_.param_of(instance), .index = {}};
    for (Expr e : instance.index) load.index.push_back(index_at(e));
    return add(dtype, std::move(load));
  }
  builder_.computes(instance.value);
  const Term& term = builder_.term_of(i);
  if (const auto* constant = std::get_if<ConstTerm>(&term)) {
    return add(dtype, ConstInst{constant->real, constant->integer});
  }
  if (const auto* iota = std::get_if<IotaTerm>(&term)) {
    const Expr expr = iota->expr.substitute_indices(instance.index);
    if (dynamic_instances(expr).empty()) return add(dtype, IotaInst{expr});
    return add(dtype, OpInst{Op::Cast, {arithmetic(expr)}});
  }
  if (std::holds_alternative<GatherTerm>(term)) return value(instance.operands[0]);
  if (std::holds_alternative<ScanTerm>(term)) return scanned(instance);
  std::vector<InstId> operands;
  for (InstanceId operand : instance.operands) operands.push_back(value(operand));
  return add(dtype, OpInst{std::get<OpTerm>(term).op, std::move(operands)});
}

// An element of a scan's row; a row of one element is the operand itself.
InstId StageBody::scanned(const Instance& instance) {
  const InstanceId row = instance.operands[0];
  if (builder_.at(row).value != instance.value) return value(row);
  return local(row, builder_.forms().group_of(row), instance.index.back());
}

Index StageBody::index_at(Expr e) {
  if (dynamic_instances(e).empty()) return {.expr = e, .value = std::nullopt};
  return {.expr = 0, .value = arithmetic(e)};
}

// Emits integer instructions for an expression with gathered parts.
InstId StageBody::arithmetic(Expr e) {
  if (dynamic_instances(e).empty()) return add(DType::I64, IotaInst{e});
  if (e.kind() == ExprKind::Index) {
    const InstId row = value(dynamic_instance(e));
    if (stage_.body[row.index()].dtype == DType::I64) return row;
    return add(DType::I64, OpInst{Op::Cast, {row}});
  }
  if (e.kind() == ExprKind::Sum) return sum(e);
  if (e.kind() == ExprKind::CeilDiv) {  // −⌊−a / b⌋
    const Expr top = -e.operands()[0], by = e.operands()[1];
    const InstId floor = divide(false, top, by, arithmetic(top), arithmetic(by));
    return integer_op(Op::Mul, {floor, add(DType::I64, ConstInst{0, -1})});
  }
  InstId left = arithmetic(e.operands()[0]);
  if (e.kind() == ExprKind::And && e.operands().size() == 1) return combine(e, left, left);
  for (size_t k = 1; k < e.operands().size(); ++k) {
    left = combine(e, left, arithmetic(e.operands()[k]));
  }
  return left;
}

InstId StageBody::integer_op(Op op, std::vector<InstId> operands) {
  return add(DType::I64, OpInst{op, std::move(operands)});
}

InstId StageBody::less(InstId a, InstId b) {
  return add(DType::Bool, OpInst{Op::LessThan, {a, b}});
}

// Comparisons yield 1 or 0.
InstId StageBody::combine(Expr e, InstId a, InstId b) {
  auto integer = [&](int64_t value) { return add(DType::I64, ConstInst{0, value}); };
  auto is_zero = [&](InstId x) { return add(DType::Bool, OpInst{Op::Equal, {x, integer(0)}}); };
  auto truth = [&](InstId x) {
    return integer_op(Op::Select, {is_zero(x), integer(0), integer(1)});
  };
  switch (e.kind()) {
    case ExprKind::Product:
      return integer_op(Op::Mul, {a, b});
    case ExprKind::FloorDiv:
    case ExprKind::Mod:
      return divide(e.kind() == ExprKind::Mod, e.operands()[0], e.operands()[1], a, b);
    case ExprKind::Min:
      return integer_op(Op::Select, {less(a, b), a, b});
    case ExprKind::Max:
      return integer_op(Op::Select, {less(a, b), b, a});
    case ExprKind::Less:
      return integer_op(Op::Select, {less(a, b), integer(1), integer(0)});
    case ExprKind::GreaterEqual:
      return integer_op(Op::Select, {less(a, b), integer(0), integer(1)});
    case ExprKind::And:
      return integer_op(Op::Mul, {truth(a), truth(b)});
    case ExprKind::Or:
      return integer_op(Op::Select, {is_zero(a), truth(b), integer(1)});
    case ExprKind::CeilDiv:
    case ExprKind::Const:
    case ExprKind::Var:
    case ExprKind::Index:
    case ExprKind::Sum:
      break;
  }
  builder_.fails("a gathered index inside " + e.text() + " is not supported");
  return a;
}

// Instructions truncate toward zero; expressions use floor division, which differs where the signs
// do, and yield 0 for a division by zero.
InstId StageBody::divide(bool mod, Expr dividend, Expr divisor, InstId top, InstId by) {
  const bool positive = divisor.lower_bound() >= 1;
  if (positive && dividend.lower_bound() >= 0) {
    return integer_op(mod ? Op::Mod : Op::IntDiv, {top, by});
  }
  const InstId zero = add(DType::I64, ConstInst{0, 0});
  const InstId rest = integer_op(Op::Mod, {top, by});
  InstId other_sign = less(rest, zero);
  if (!positive) {
    const InstId none = add(DType::Bool, OpInst{Op::Equal, {rest, zero}});
    const InstId same = add(DType::Bool, OpInst{Op::Equal, {less(rest, zero), less(by, zero)}});
    const InstId fits = add(DType::Bool, OpInst{Op::Add, {none, same}});  // or
    const InstId no = add(DType::Bool, ConstInst{0, 0});
    other_sign = add(DType::Bool, OpInst{Op::Equal, {fits, no}});
  }
  const InstId remainder =
      integer_op(Op::Select, {other_sign, integer_op(Op::Add, {rest, by}), rest});
  InstId result = remainder;
  if (!mod) {
    const InstId minus = integer_op(Op::Mul, {remainder, add(DType::I64, ConstInst{0, -1})});
    result = integer_op(Op::IntDiv, {integer_op(Op::Add, {top, minus}), by});
  }
  if (positive || divisor.upper_bound() < 0) return result;
  const InstId by_zero = add(DType::Bool, OpInst{Op::Equal, {by, zero}});
  return integer_op(Op::Select, {by_zero, zero, result});
}

InstId StageBody::sum(Expr e) {
  InstId total = add(DType::I64, ConstInst{0, e.constant_term()});
  for (size_t k = 0; k < e.operands().size(); ++k) {
    InstId term = arithmetic(e.operands()[k]);
    if (e.coefficients()[k] != 1) {
      const InstId by = add(DType::I64, ConstInst{0, e.coefficients()[k]});
      term = add(DType::I64, OpInst{Op::Mul, {term, by}});
    }
    total = add(DType::I64, OpInst{Op::Add, {total, term}});
  }
  return total;
}

}  // namespace luminal::kernel
