#include "luminal/kernel/ir/inst_uses.h"

namespace luminal::kernel {
namespace {

// A call takes some 10 ns, in which registers compute as many times what a row of ops.def says.
constexpr int64_t kFlopsOfCall = 128;

void add_loops(const Kernel& kernel, Expr e, std::set<LoopId>& loops) {
  for (LoopId loop : kernel.loops.ids()) {
    if (uses_loop(e, loop)) loops.insert(loop);
  }
}

void visit(const Stage& stage, InstId id, std::vector<bool>& seen) {
  if (seen[id.index()]) return;
  seen[id.index()] = true;
  const auto& what = stage.body[id.index()].what;
  if (const auto* op = std::get_if<OpInst>(&what)) {
    for (InstId operand : op->operands) visit(stage, operand, seen);
  } else if (const auto* load = std::get_if<LoadInst>(&what)) {
    for (const Index& index : load->index) {
      if (index.value) visit(stage, *index.value, seen);
    }
  }
}

}  // namespace

std::vector<bool> needed_for(const Stage& stage, InstId id) {
  std::vector<bool> seen(stage.body.size());
  visit(stage, id, seen);
  return seen;
}

int64_t flops_of(const Inst& inst) {
  const auto* op = std::get_if<OpInst>(&inst.what);
  if (op == nullptr) return 0;
  const bool calls = op->op == Op::Exp2 || op->op == Op::Log2 || op->op == Op::Sin ||
                     (op->op == Op::Mod && is_float(inst.dtype));
  return luminal::flops_of(op->op) * (calls && inst.dtype == DType::F64 ? kFlopsOfCall : 1);
}

InstUses uses_of(const Kernel& kernel, const Stage& stage, InstId id) {
  const std::vector<bool> seen = needed_for(stage, id);
  InstUses uses;
  for (size_t k = 0; k < seen.size(); ++k) {
    if (!seen[k]) continue;
    const auto& what = stage.body[k].what;
    if (std::holds_alternative<OpInst>(what)) {
      uses.flops += flops_of(stage.body[k]);
    } else if (const auto* load = std::get_if<LoadInst>(&what)) {
      uses.loads = true;
      for (const Index& index : load->index) {
        if (!index.value) add_loops(kernel, index.expr, uses.loops);
      }
    } else if (const auto* iota = std::get_if<IotaInst>(&what)) {
      add_loops(kernel, iota->expr, uses.loops);
    } else if (const auto* local = std::get_if<LocalInst>(&what)) {
      uses.stages.insert(local->stage);
      for (Expr e : local->index) add_loops(kernel, e, uses.loops);
    }
  }
  return uses;
}

}  // namespace luminal::kernel
