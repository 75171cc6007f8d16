#include "luminal/kernel/recognise/work.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "luminal/kernel/ir/inst_uses.h"
#include "luminal/kernel/recognise/forms.h"

namespace luminal::kernel {
namespace {

Expr bytes_of(DType dtype, Expr count) {
  const int width = bits(dtype);
  return width >= 8 ? count * (width / 8) : ceil_div(count * width, 8);
}

Expr product(const Kernel& kernel, const std::set<LoopId>& loops) {
  Expr result = 1;
  for (LoopId loop : loops) result = result * extent_of(kernel, loop);
  return result;
}

// The loops that run around a stage's body.
std::set<LoopId> loops_around(const Kernel& kernel, const Stage& stage) {
  std::set<LoopId> loops;
  for (LoopId loop : outer_loops(kernel)) loops.insert(loop);
  loops.insert(stage.loops.begin(), stage.loops.end());
  if (stage.reduction) loops.insert(stage.reduction->loop);
  return loops;
}

std::set<LoopId> loops_of(const Kernel& kernel, const Stage& stage, const LoadInst& load) {
  std::set<LoopId> loops;
  for (const Index& index : load.index) {
    if (index.value) return loops_around(kernel, stage);
    for (LoopId loop : kernel.loops.ids()) {
      if (uses_loop(index.expr, loop)) loops.insert(loop);
    }
  }
  return loops;
}

// Each parameter is read at most once: repeated reads hit a cache.
Expr bytes_read(const Kernel& kernel) {
  Expr total = 0;
  for (ParamId p : kernel.params.ids()) {
    const Param& param = kernel.params[p];
    if (param.output) continue;
    std::set<std::set<LoopId>> reads;
    for (const Stage& stage : kernel.stages) {
      for (const Inst& inst : stage.body) {
        const auto* load = std::get_if<LoadInst>(&inst.what);
        if (load != nullptr && load->param == p) {
          reads.insert(loops_of(kernel, stage, *load));
        }
      }
    }
    Expr touched = 0;
    for (const std::set<LoopId>& loops : reads) touched = touched + product(kernel, loops);
    const Expr all = n_elements(param.dims);
    total = total + bytes_of(param.dtype, touched == all ? all : min(touched, all));
  }
  return total;
}

// In matrix products, the flops of a factor count once per element, not once per product.
Expr flops(const Kernel& kernel) {
  const Forms& forms = forms_of(kernel);
  if (const auto& form = forms.contraction) {
    const ContractionWork work = work_of(kernel, *form);
    return (work.exact_products + work.integer_products + work.products) * 2 + work.other_flops;
  }
  if (const auto& form = forms.row_blocks) {
    const RowBlockWork work = work_of(kernel, *form);
    return (work.exact_products + work.half_products + work.products) * 2 + work.other_flops;
  }
  Expr total = 0;
  for (const Stage& stage : kernel.stages) {
    const bool updates = std::holds_alternative<UpdateTarget>(stage.target);
    int64_t per_point = stage.reduction || updates ? 1 : 0;
    for (const Inst& inst : stage.body) {
      per_point += flops_of(inst);
    }
    total = total + product(kernel, loops_around(kernel, stage)) * per_point;
  }
  return total;
}

// Most expressions of a kernel occur many times: each is visited once.
void collect(Expr e, std::unordered_set<Expr>& seen, std::vector<Expr>& variables) {
  if (!seen.insert(e).second) return;
  for (Expr variable : e.variables()) {
    const bool known = std::find(variables.begin(), variables.end(), variable) != variables.end();
    if (!known) variables.push_back(variable);
  }
}

std::vector<Expr> variables(const Kernel& kernel) {
  std::unordered_set<Expr> seen;
  std::vector<Expr> result;
  for (const Loop& loop : kernel.loops) collect(loop.extent, seen, result);
  for (const Param& param : kernel.params) {
    for (Expr dim : param.dims) collect(dim, seen, result);
  }
  for (const Stage& stage : kernel.stages) {
    for (const Inst& inst : stage.body) {
      if (const auto* iota = std::get_if<IotaInst>(&inst.what)) collect(iota->expr, seen, result);
      if (const auto* load = std::get_if<LoadInst>(&inst.what)) {
        for (const Index& index : load->index) collect(index.expr, seen, result);
      }
      if (const auto* local = std::get_if<LocalInst>(&inst.what)) {
        for (Expr e : local->index) collect(e, seen, result);
      }
    }
    if (const auto* output = std::get_if<OutputTarget>(&stage.target)) {
      for (Expr e : output->index) collect(e, seen, result);
    } else if (const auto* update = std::get_if<UpdateTarget>(&stage.target)) {
      for (Expr e : update->rest) collect(e, seen, result);
    }
  }
  std::sort(result.begin(), result.end(), [](Expr a, Expr b) { return compare(a, b) < 0; });
  return result;
}

}  // namespace

void finish(Kernel& kernel) {
  kernel.variables = variables(kernel);
  recognise(kernel);
  kernel.bytes_read = bytes_read(kernel);
  kernel.flops = flops(kernel);
  kernel.bytes_written = 0;
  for (const Param& param : kernel.params) {
    if (param.output) {
      kernel.bytes_written = kernel.bytes_written + bytes_of(param.dtype, n_elements(param.dims));
    }
  }
  kernel.local_bytes = 0;
  for (const Stage& stage : kernel.stages) {
    if (!std::holds_alternative<LocalTarget>(stage.target)) continue;
    const std::vector<LoopId> dims = buffer_loops(stage);
    const std::set<LoopId> loops(dims.begin(), dims.end());
    kernel.local_bytes = kernel.local_bytes + bytes_of(stage.dtype, product(kernel, loops));
  }
}

}  // namespace luminal::kernel
