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
          "it has more outer loops than loops");
    for (const Loop& loop : kernel_.loops) check_expr(loop.extent, false);
    for (const Param& param : kernel_.params) check_param(param);
    for (Expr work :
         {kernel_.bytes_read, kernel_.bytes_written, kernel_.flops, kernel_.local_bytes}) {
      check_expr(work, false);
    }
    check(!kernel_.stages.empty(), "it has no stages");
    for (StageId stage : kernel_.stages.ids()) {
      if (why_.empty()) check_stage(kernel_.stages[stage], stage);
    }
    return why_;
  }

 private:
  bool check(bool holds, std::string_view what) {
    if (!holds && why_.empty()) why_ = fmt::format("a kernel is invalid: {}", what);
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
              "it uses a variable that it doesn't list");
      } else if (part.kind() == ExprKind::Index) {
        check(over_loops && kernel_.loops.has(loop_of(part)) &&
                  extent_of(kernel_, loop_of(part)) == part.operands()[0],
              "it uses an index that is no loop of its extent");
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
          "a parameter shares memory, but isn't an output that shares an input's");
  }

  const Param* param_at(ParamId id, bool output, size_t rank) {
    const bool there = kernel_.params.has(id);
    const Param* param = there ? &kernel_.params[id] : nullptr;
    const bool fits = there && param->output == output && param->dims.size() == rank;
    return check(fits, "a stage uses a parameter that is absent or has another direction or rank")
               ? param
               : nullptr;
  }

  bool is_loop(LoopId loop) const { return !is_outer(kernel_, loop) && kernel_.loops.has(loop); }

  void check_stage(const Stage& stage, StageId id) {
    std::set<LoopId> loops(stage.loops.begin(), stage.loops.end());
    check(loops.size() == stage.loops.size(), "a stage names a loop twice");
    if (stage.reduction) {
      check(loops.insert(stage.reduction->loop).second,
            "a stage reduces over one of its own loops");
    }
    for (LoopId loop : loops)
      check(is_loop(loop), "a stage names a loop that isn't an inner loop of the kernel");
    for (size_t i = 0; i < stage.body.size(); ++i) check_inst(stage, i, id);
    if (!check(stage.result.index() < stage.body.size(), "a stage has no result")) return;
    check(stage.body[stage.result.index()].dtype == stage.dtype,
          "a stage and its result differ in dtype");
    check_target(stage);
  }

  void check_target(const Stage& stage) {
    if (const auto* output = std::get_if<OutputTarget>(&stage.target)) {
      const Param* param = param_at(output->param, true, output->index.size());
      check(param == nullptr || param->dtype == stage.dtype,
            "a stage and its output differ in dtype");
      if (param != nullptr) check_indices(output->index, param->dims);
    } else if (const auto* update = std::get_if<UpdateTarget>(&stage.target)) {
      const Param* param = param_at(update->param, true, update->rest.size() + 1);
      check(param == nullptr || param->dtype == stage.dtype,
            "a stage and its output differ in dtype");
      check(
          update->row.index() < stage.body.size() && is_int(stage.body[update->row.index()].dtype),
          "an update's row isn't an integer of its stage");
      if (param != nullptr) check_indices(update->rest, param->dims, 1);
    }
  }

  void check_inst(const Stage& stage, size_t i, StageId id) {
    const Inst& inst = stage.body[i];
    if (const auto* iota = std::get_if<IotaInst>(&inst.what)) {
      check_expr(iota->expr);
    } else if (const auto* load = std::get_if<LoadInst>(&inst.what)) {
      const Param* param = param_at(load->param, false, load->index.size());
      check(param == nullptr || param->dtype == inst.dtype,
            "a load and its parameter differ in dtype");
      for (size_t axis = 0; param != nullptr && axis < load->index.size(); ++axis) {
        const Index& index = load->index[axis];
        if (!index.value) {
          check_index(index.expr, param->dims[axis]);
          continue;
        }
        check_expr(index.expr);
        check(index.value->index() < i && is_int(stage.body[index.value->index()].dtype),
              "a gathered index isn't an integer that is computed before it");
      }
    } else if (const auto* local = std::get_if<LocalInst>(&inst.what)) {
      if (!check(local->stage < id, "a stage reads a local value of a later stage")) return;
      const Stage& made = kernel_.stages[local->stage];
      const std::vector<LoopId> dims = buffer_loops(made);
      if (!check(std::holds_alternative<LocalTarget>(made.target) && made.dtype == inst.dtype &&
                     dims.size() == local->index.size(),
                 "a stage reads a local value of another dtype or rank")) {
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
               "an instruction has the wrong operands")) {
      return;
    }
    const DType result = stage.body[i].dtype;
    auto of = [&](size_t k) { return stage.body[op.operands[k].index()].dtype; };
    switch (op_class(op.op)) {
      case OpClass::Unary:
        check(takes(op.op, result) && of(0) == result,
              "an instruction has operands of the wrong dtype");
        break;
      case OpClass::Convert:
        check(op.op == Op::Cast || bits(of(0)) == bits(result),
              "an instruction has operands of the wrong dtype");
        break;
      case OpClass::Binary:
        check(of(0) == of(1) && result == of(0), "an instruction has operands of the wrong dtype");
        break;
      case OpClass::Comparison:
        check(of(0) == of(1) && result == DType::Bool,
              "an instruction has operands of the wrong dtype");
        break;
      case OpClass::Ternary:
        check(of(0) == DType::Bool && of(1) == result && of(2) == result,
              "an instruction has operands of the wrong dtype");
        break;
      case OpClass::Leaf:
      case OpClass::Movement:
      case OpClass::Reduction:
      case OpClass::Indexing:
      case OpClass::Custom:
        check(false, "an instruction has an op that isn't element-wise");
    }
  }

  const Kernel& kernel_;
  std::unordered_set<Expr> seen_, seen_sizes_;  // already checked: over loops, and as sizes
  std::string why_;
};

}  // namespace

std::string verify_kernel(const Kernel& kernel) { return KernelVerifier(kernel).run(); }

}  // namespace luminal::kernel
