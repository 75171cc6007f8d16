#include "luminal/kernel/ir/verify_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "luminal/shape/index/index_range.h"

namespace luminal::kernel {
namespace {

class KernelVerifier {
 public:
  explicit KernelVerifier(const Kernel& kernel) : kernel_(kernel) {}

  std::string run() {
    check(kernel_.n_outer >= 0 && static_cast<size_t>(kernel_.n_outer) <= kernel_.loops.size(),
          "outer loops");
    for (const Loop& loop : kernel_.loops) check_expr(loop.extent, false);
    for (const Param& param : kernel_.params) check_param(param);
    for (Expr work :
         {kernel_.bytes_read, kernel_.bytes_written, kernel_.flops, kernel_.local_bytes}) {
      check_expr(work, false);
    }
    check(!kernel_.stages.empty(), "no stages");
    for (StageId stage : kernel_.stages.ids()) {
      if (why_.empty()) check_stage(kernel_.stages[stage], stage);
    }
    return why_;
  }

 private:
  bool check(bool holds, std::string_view what) {
    if (!holds && why_.empty()) why_ = fmt::format("a kernel's {} can't be", what);
    return holds;
  }

  // Every variable must be an argument, every index a loop with that loop's extent.
  void check_expr(Expr expr, bool over_loops = true) {
    std::vector<Expr> stack = {expr};
    while (!stack.empty()) {
      const Expr part = stack.back();
      stack.pop_back();
      if (!(over_loops ? seen_ : seen_sizes_).insert(part).second) continue;
      if (part.kind() == ExprKind::Var) {
        check(std::find(kernel_.variables.begin(), kernel_.variables.end(), part) !=
                  kernel_.variables.end(),
              "variables");
      } else if (part.kind() == ExprKind::Index) {
        check(over_loops && kernel_.loops.has(loop_of(part)) &&
                  extent_of(kernel_, loop_of(part)) == part.operands()[0],
              "loops");
      }
      stack.insert(stack.end(), part.operands().begin(), part.operands().end());
    }
  }

  // The same for an index that must also stay inside a dim of `size`, for all sizes.
  void check_index(Expr index, Expr size) {
    check_expr(index);
    if (!why_.empty() || shape::known_inside(index, size)) return;
    std::string why = "the sizes of a run decide";
    if (index.variables().empty() && size.to_int()) why = shape::why_outside(index, size, {});
    if (why.empty()) return;
    why_ = fmt::format("a kernel's index {} isn't proved to stay inside a dim of {}: {}",
                       index.text(), size.text(), why);
  }

  void check_indices(const std::vector<Expr>& indices, const Dims& dims, size_t first_dim = 0) {
    for (size_t k = 0; k < indices.size(); ++k) check_index(indices[k], dims[first_dim + k]);
  }

  void check_param(const Param& param) {
    for (Expr dim : param.dims) check_expr(dim, false);
    check(!param.shares.valid() || (param.output && kernel_.params.has(param.shares) &&
                                    !kernel_.params[param.shares].output),
          "shared memory");
  }

  const Param* param_at(ParamId id, bool output, size_t rank) {
    const bool there = kernel_.params.has(id);
    const Param* param = there ? &kernel_.params[id] : nullptr;
    const bool fits = there && param->output == output && param->dims.size() == rank;
    return check(fits, "parameters") ? param : nullptr;
  }

  bool is_loop(LoopId loop) const { return !is_outer(kernel_, loop) && kernel_.loops.has(loop); }

  void check_stage(const Stage& stage, StageId id) {
    std::set<LoopId> loops(stage.loops.begin(), stage.loops.end());
    check(loops.size() == stage.loops.size(), "loops of a stage");
    if (stage.reduction) {
      check(loops.insert(stage.reduction->loop).second, "loop of a reduction");
    }
    for (LoopId loop : loops) check(is_loop(loop), "loops of a stage");
    for (size_t i = 0; i < stage.body.size(); ++i) check_inst(stage, i, id);
    if (!check(stage.result.index() < stage.body.size(), "results")) return;
    check(stage.body[stage.result.index()].dtype == stage.dtype, "types of results");
    check_target(stage);
  }

  void check_target(const Stage& stage) {
    if (const auto* output = std::get_if<OutputTarget>(&stage.target)) {
      const Param* param = param_at(output->param, true, output->index.size());
      check(param == nullptr || param->dtype == stage.dtype, "types of outputs");
      if (param != nullptr) check_indices(output->index, param->dims);
    } else if (const auto* update = std::get_if<UpdateTarget>(&stage.target)) {
      const Param* param = param_at(update->param, true, update->rest.size() + 1);
      check(param == nullptr || param->dtype == stage.dtype, "types of outputs");
      check(
          update->row.index() < stage.body.size() && is_int(stage.body[update->row.index()].dtype),
          "rows");
      if (param != nullptr) check_indices(update->rest, param->dims, 1);
    }
  }

  void check_inst(const Stage& stage, size_t i, StageId id) {
    const Inst& inst = stage.body[i];
    if (const auto* iota = std::get_if<IotaInst>(&inst.what)) {
      check_expr(iota->expr);
    } else if (const auto* load = std::get_if<LoadInst>(&inst.what)) {
      const Param* param = param_at(load->param, false, load->index.size());
      check(param == nullptr || param->dtype == inst.dtype, "types of loads");
      for (size_t axis = 0; param != nullptr && axis < load->index.size(); ++axis) {
        const Index& index = load->index[axis];
        if (!index.value) {
          check_index(index.expr, param->dims[axis]);
          continue;
        }
        check_expr(index.expr);
        check(index.value->index() < i && is_int(stage.body[index.value->index()].dtype),
              "gathered indices");
      }
    } else if (const auto* local = std::get_if<LocalInst>(&inst.what)) {
      if (!check(local->stage < id, "local values")) return;
      const Stage& made = kernel_.stages[local->stage];
      const std::vector<LoopId> dims = buffer_loops(made);
      if (!check(std::holds_alternative<LocalTarget>(made.target) && made.dtype == inst.dtype &&
                     dims.size() == local->index.size(),
                 "local values")) {
        return;
      }
      for (size_t k = 0; k < dims.size(); ++k) {
        check_index(local->index[k], extent_of(kernel_, dims[k]));
      }
    } else if (const auto* op = std::get_if<OpInst>(&inst.what)) {
      check_op(stage, i, *op);
    }
  }

  void check_op(const Stage& stage, size_t i, const OpInst& op) {
    const auto earlier = [&](InstId id) { return id.index() < i; };
    if (!check(static_cast<size_t>(arity(op.op)) == op.operands.size() &&
                   std::all_of(op.operands.begin(), op.operands.end(), earlier),
               "operands")) {
      return;
    }
    const DType result = stage.body[i].dtype;
    auto of = [&](size_t k) { return stage.body[op.operands[k].index()].dtype; };
    switch (op_class(op.op)) {
      case OpClass::Unary:
        check(takes(op.op, result) && of(0) == result, "types of operands");
        break;
      case OpClass::Convert:
        check(op.op == Op::Cast || bits(of(0)) == bits(result), "types of operands");
        break;
      case OpClass::Binary:
        check(of(0) == of(1) && result == of(0), "types of operands");
        break;
      case OpClass::Comparison:
        check(of(0) == of(1) && result == DType::Bool, "types of operands");
        break;
      case OpClass::Ternary:
        check(of(0) == DType::Bool && of(1) == result && of(2) == result, "types of operands");
        break;
      case OpClass::Leaf:
      case OpClass::Movement:
      case OpClass::Reduction:
      case OpClass::Indexing:
      case OpClass::Custom:
        check(false, "instructions");
    }
  }

  const Kernel& kernel_;
  std::unordered_set<Expr> seen_, seen_sizes_;  // already checked: over loops, and as sizes
  std::string why_;
};

}  // namespace

std::string verify_kernel(const Kernel& kernel) { return KernelVerifier(kernel).run(); }

}  // namespace luminal::kernel
