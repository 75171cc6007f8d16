#include "luminal/kernel/ir/inst_uses.h"

namespace luminal::kernel {
namespace {

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

InstUses uses_of(const Kernel& kernel, const Stage& stage, InstId id) {
  const std::vector<bool> seen = needed_for(stage, id);
  InstUses uses;
  for (size_t k = 0; k < seen.size(); ++k) {
    if (!seen[k]) continue;
    const auto& what = stage.body[k].what;
    if (const auto* op = std::get_if<OpInst>(&what)) {
      uses.flops += flops_of(op->op);
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
