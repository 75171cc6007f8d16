#include "luminal/search/cost/kernel_features.h"

#include <algorithm>

#include "luminal/kernel/ir/inst_uses.h"
#include "luminal/kernel/recognise/guarded_loads.h"
#include "luminal/search/cost/expr_value.h"

namespace luminal::search {
namespace {

bool is_division(Op op) {
  return op == Op::Recip || op == Op::Sqrt || op == Op::Mod || op == Op::IntDiv;
}
bool is_transcendental(Op op) { return op == Op::Exp2 || op == Op::Log2 || op == Op::Sin; }

// The loops that vectors may run along: the last one of a stage's points, and that of its
// reduction.
std::vector<kernel::LoopId> vector_loops(const kernel::Kernel& kernel, const kernel::Stage& stage) {
  std::vector<kernel::LoopId> loops;
  if (stage.reduction) loops.push_back(stage.reduction->loop);
  if (!stage.loops.empty()) {
    loops.push_back(stage.loops.back());
  } else if (kernel.n_outer > 0) {
    loops.push_back(kernel::LoopId::at(static_cast<size_t>(kernel.n_outer - 1)));
  }
  return loops;
}

bool uses(const kernel::Index& index, kernel::LoopId loop) {
  return index.value || uses_loop(index.expr, loop);
}

// Whether the load depends on vector loops, and only by other dims than its last.
bool is_strided(const kernel::LoadInst& load, const std::vector<kernel::LoopId>& loops) {
  bool depends = false;
  for (kernel::LoopId loop : loops) {
    if (load.index.empty()) continue;
    if (uses_loop(load.index.back().expr, loop)) return false;
    depends = depends || std::ranges::any_of(load.index, [&](const kernel::Index& index) {
                return uses(index, loop);
              });
  }
  return depends;
}

// Whether an address moves with a loop from element to element, vector by vector: not through a
// quotient, nor through a remainder whose end vectors cross.
bool runs_along(Expr e, kernel::LoopId loop) {
  constexpr int64_t kVector = 16;
  switch (e.kind()) {
    case ExprKind::Index:
      return kernel::loop_of(e) == loop;
    case ExprKind::Mod:
      return e.operands()[1].to_int().value_or(1) % kVector == 0 &&
             e.operands()[0].constant_term() % kVector == 0 && runs_along(e.operands()[0], loop);
    case ExprKind::FloorDiv:
    case ExprKind::CeilDiv:
      return false;
    default:
      return std::ranges::any_of(e.operands(), [&](Expr x) { return runs_along(x, loop); });
  }
}

// Whether the address moves with every loop in steps that no vector follows.
bool is_scattered(const kernel::LoadInst& load, const Dims& dims,
                  const std::vector<kernel::LoopId>& loops) {
  const std::vector<Expr> strides = contiguous_strides(dims);
  Expr address = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    if (load.index[axis].value) return false;
    address = address + load.index[axis].expr * strides[axis];
  }
  return !loops.empty() && std::ranges::all_of(loops, [&](kernel::LoopId loop) {
    return uses_loop(address, loop) && !runs_along(address, loop);
  });
}

// The same of a local buffer, by its last dim.
bool is_scattered(const kernel::LocalInst& local, const std::vector<kernel::LoopId>& loops) {
  if (local.index.empty() || loops.empty()) return false;
  const Expr last = local.index.back();
  return std::ranges::all_of(
      loops, [&](kernel::LoopId loop) { return uses_loop(last, loop) && !runs_along(last, loop); });
}

}  // namespace

KernelFeatures features_of(const kernel::Kernel& kernel, const Bindings& sizes) {
  KernelFeatures features;
  double outer = 1;
  for (kernel::LoopId loop : outer_loops(kernel)) outer *= value(extent_of(kernel, loop), sizes);
  for (const kernel::Stage& stage : kernel.stages) {
    if (copies_shared(kernel, stage)) continue;
    double points = outer;
    for (kernel::LoopId loop : stage.loops) points *= value(extent_of(kernel, loop), sizes);
    if (stage.reduction) points *= value(extent_of(kernel, stage.reduction->loop), sizes);
    features.reduces = features.reduces || stage.reduction.has_value();
    if (std::holds_alternative<kernel::UpdateTarget>(stage.target)) {
      features.looks_up = true;
      features.looked_up += points;
    }
    const std::vector<kernel::LoopId> along = vector_loops(kernel, stage);
    const auto guarded = kernel::guarded_loads(stage);
    for (size_t k = 0; k < stage.body.size(); ++k) {
      const kernel::Inst& inst = stage.body[k];
      if (const auto* load = std::get_if<kernel::LoadInst>(&inst.what)) {
        const bool by_index = std::ranges::any_of(
            load->index, [](const kernel::Index& index) { return index.value.has_value(); });
        if (by_index) {
          features.looks_up = true;
          features.looked_up += points;
        }
        if (is_half(inst.dtype)) features.converted += points;
        const bool scattered =
            !guarded[k] && is_scattered(*load, kernel.params[load->param].dims, along);
        if (scattered) features.scattered += points;
        if (is_strided(*load, along)) features.strided += points;
      } else if (const auto* local = std::get_if<kernel::LocalInst>(&inst.what)) {
        if (is_scattered(*local, along)) features.scattered += points;
      } else if (const auto* op = std::get_if<kernel::OpInst>(&inst.what)) {
        if (is_half(inst.dtype)) features.converted += points;
        const double flops = static_cast<double>(kernel::flops_of(inst)) * points;
        if (is_division(op->op)) features.divisions += flops;
        if (is_transcendental(op->op)) features.transcendentals += flops;
        const bool function = is_division(op->op) || is_transcendental(op->op);
        if (function && inst.dtype == DType::F16) features.of_f16 += flops;
      }
    }
  }
  return features;
}

}  // namespace luminal::search
