#include "luminal/backends/cpu/onednn/library_form.h"

#include <algorithm>

#include "luminal/base/check.h"
#include "luminal/kernel/recognise/forms.h"

namespace luminal::backends::cpu {
namespace {

using kernel::Inst;
using kernel::InstId;
using kernel::Kernel;
using kernel::LoadInst;
using kernel::LocalInst;
using kernel::LoopId;
using kernel::OpInst;
using kernel::Stage;

// A tensor with a stride for every loop of the kernel.
struct StridedAccess {
  kernel::ParamId param;
  DType dtype = DType::F32;
  Expr start = 0;
  IdVector<LoopId, Expr> strides = {};
};

bool is_library_dtype(DType dtype) { return dtype == DType::F32 || dtype == DType::BF16; }

// The strides of an access over the kernel's loops; none if the address isn't affine.
std::optional<StridedAccess> access(const Kernel& kernel, kernel::ParamId param,
                                    const std::vector<Expr>& index) {
  const kernel::Param& tensor = kernel.params[param];
  if (!is_library_dtype(tensor.dtype)) return {};
  Expr address = 0;
  for (size_t d = 0; d < index.size(); ++d) address = address * tensor.dims[d] + index[d];
  const auto at = [&](LoopId one) {
    IdVector<LoopId, Expr> loops(kernel.loops.size(), Expr(0));
    if (one.valid()) loops[one] = 1;
    return address.substitute_indices(loops.items());
  };
  StridedAccess found{.param = param, .dtype = tensor.dtype, .start = at(LoopId())};
  Expr sum = found.start;
  for (LoopId loop : kernel.loops.ids()) {
    const bool used = !extent_of(kernel, loop).is(1) && uses_loop(address, loop);
    found.strides.push_back(used ? at(loop) - found.start : Expr(0));
    sum = sum + found.strides.back() * index_of(kernel, loop);
  }
  return sum == address ? std::optional(found) : std::nullopt;
}

std::optional<StridedAccess> access(const Kernel& kernel, const Inst& inst) {
  const auto* load = std::get_if<LoadInst>(&inst.what);
  if (load == nullptr) return {};
  std::vector<Expr> index;
  for (const kernel::Index& at : load->index) {
    if (at.value) return {};
    index.push_back(at.expr);
  }
  return access(kernel, load->param, index);
}

// The tensor behind a load, or behind a load of bf16 cast to f32.
std::optional<StridedAccess> plain_tensor(const Kernel& kernel, const Stage& stage, InstId id) {
  const Inst* inst = &stage.body[id.index()];
  const auto* op = std::get_if<OpInst>(&inst->what);
  if (op != nullptr && op->op == Op::Cast && inst->dtype == DType::F32) {
    inst = &stage.body[op->operands[0].index()];
    if (inst->dtype != DType::BF16) return {};
  }
  return access(kernel, *inst);
}

int n_uses(const Stage& stage, InstId id) {
  int count = 0;
  for (const Inst& inst : stage.body) {
    const auto* op = std::get_if<OpInst>(&inst.what);
    if (op != nullptr) count += static_cast<int>(std::ranges::count(op->operands, id));
  }
  return count;
}

struct Step {
  PostOpKind kind;
  std::optional<StridedAccess> tensor;
};

// Matches the epilogue, from the last op back to the sums.
class Epilogue {
 public:
  Epilogue(const Kernel& kernel, kernel::StageId sums, bool finite)
      : kernel_(kernel), sums_(sums), finite_(finite) {}

  // Why the library can't compute it; empty if it can.
  std::string take(const Stage& last) {
    std::string why = follow(last, last.result);
    std::reverse(steps_.begin(), steps_.end());
    return why;
  }
  const std::vector<Step>& steps() const { return steps_; }

 private:
  static constexpr const char* kOther = "what follows its sums is not a post-op of the library";

  std::string follow(const Stage& stage, InstId id) {
    const Inst& inst = stage.body[id.index()];
    if (const auto* local = std::get_if<LocalInst>(&inst.what)) {
      if (local->stage == sums_) return {};
      // A stage's result is rounded to its dtype, but the library rounds only at the end.
      const Stage& before = kernel_.stages[local->stage];
      return before.dtype == DType::F32 ? follow(before, before.result) : kOther;
    }
    const auto* op = std::get_if<OpInst>(&inst.what);
    if (op == nullptr || !is_library_dtype(inst.dtype)) return kOther;
    switch (op->op) {
      case Op::Cast:
        // A cast to bf16: rounded only at the end, as if its only use were a sum or product (see
        // unrounded.h).
        return inst.dtype == DType::BF16 ? follow(stage, op->operands[0]) : kOther;
      case Op::Add:
        return with_tensor(stage, *op, PostOpKind::Add);
      case Op::Mul:
        return with_tensor(stage, *op, PostOpKind::Multiply);
      case Op::Select:
        return relu(stage, inst, *op);
      default:
        return kOther;
    }
  }

  std::string with_tensor(const Stage& stage, const OpInst& op, PostOpKind kind) {
    for (size_t side : {size_t{0}, size_t{1}}) {
      std::vector<Step> steps;
      if (!take_tensors(stage, op.operands[1 - side], kind, steps)) continue;
      steps_.insert(steps_.end(), steps.begin(), steps.end());
      return follow(stage, op.operands[side]);
    }
    return kOther;
  }

  // A tensor or, for Add, a sum of several, as a residual may be. A value whose only use is a sum
  // needn't be rounded to bf16.
  bool take_tensors(const Stage& stage, InstId id, PostOpKind kind, std::vector<Step>& steps) {
    if (std::optional<StridedAccess> tensor = plain_tensor(kernel_, stage, id)) {
      steps.push_back({kind, std::move(tensor)});
      return true;
    }
    const Inst& inst = stage.body[id.index()];
    const auto* op = std::get_if<OpInst>(&inst.what);
    if (op == nullptr || n_uses(stage, id) != 1) return false;
    if (op->op == Op::Cast && inst.dtype == DType::BF16) {
      const Inst& wide = stage.body[op->operands[0].index()];
      std::optional<StridedAccess> tensor = access(kernel_, wide);
      if (!tensor) return false;
      steps.push_back({kind, std::move(tensor)});
      return true;
    }
    return op->op == Op::Add && kind == PostOpKind::Add && is_library_dtype(inst.dtype) &&
           take_tensors(stage, op->operands[0], kind, steps) &&
           take_tensors(stage, op->operands[1], kind, steps);
  }

  // select(x < 0, 0, x). In bf16 only as the last op: relu of a rounded value equals the rounded
  // relu, but later ops would see an input that wasn't rounded.
  std::string relu(const Stage& stage, const Inst& inst, const OpInst& select) {
    const auto* less = std::get_if<OpInst>(&stage.body[select.operands[0].index()].what);
    const InstId x = select.operands[2];
    const bool fits = less != nullptr && less->op == Op::LessThan && less->operands[0] == x &&
                      is_zero(stage, less->operands[1]) && is_zero(stage, select.operands[1]) &&
                      (inst.dtype == DType::F32 || steps_.empty());
    if (!fits) return kOther;
    if (!finite_) {
      return "the library's relu turns NaN into 0, which only numerics 'finite' allows";
    }
    steps_.push_back({PostOpKind::Relu, std::nullopt});
    return follow(stage, x);
  }

  static bool is_zero(const Stage& stage, InstId id) {
    const auto* constant = std::get_if<kernel::ConstInst>(&stage.body[id.index()].what);
    return constant != nullptr && constant->real == 0;
  }

  const Kernel& kernel_;
  const kernel::StageId sums_;
  const bool finite_;
  std::vector<Step> steps_;
};

// Removes the last loops of a list that can be collapsed into one in all tensors, and returns them.
std::vector<LoopId> take_merged(const Kernel& kernel, std::vector<LoopId>& loops,
                                const std::vector<StridedAccess>& tensors) {
  std::vector<LoopId> merged;
  while (!loops.empty()) {
    const LoopId loop = loops.back();
    const bool fits =
        merged.empty() || std::ranges::all_of(tensors, [&](const StridedAccess& tensor) {
          const LoopId inner = merged.front();
          return tensor.strides[loop] == tensor.strides[inner] * extent_of(kernel, inner);
        });
    if (!fits) break;
    merged.insert(merged.begin(), loop);
    loops.pop_back();
  }
  return merged;
}

Expr count(const Kernel& kernel, const std::vector<LoopId>& loops) {
  Expr result = 1;
  for (LoopId loop : loops) result = result * extent_of(kernel, loop);
  return result;
}

LibraryTensor tensor_of(const StridedAccess& access, const std::vector<LoopId>& batch,
                        const std::vector<LoopId>& rows, const std::vector<LoopId>& columns) {
  const auto along = [&](const std::vector<LoopId>& loops) {
    return loops.empty() ? Expr(0) : access.strides[loops.back()];
  };
  LibraryTensor tensor{.param = access.param,
                       .dtype = access.dtype,
                       .batch = {},
                       .row = along(rows),
                       .column = along(columns),
                       .start = access.start};
  for (LoopId loop : batch) tensor.batch.push_back(along({loop}));
  return tensor;
}

bool is_row_of_n(const LibraryTensor& tensor) {
  return tensor.row.is(0) && tensor.column.is(1) &&
         std::ranges::all_of(tensor.batch, [](Expr stride) { return stride.is(0); });
}

// Whether one packed b serves all sizes.
bool has_static_b(const LibraryForm& form) {
  bool all = form.n.to_int() && form.k.to_int() && form.b.row.to_int() && form.b.column.to_int() &&
             form.b.start.to_int();
  for (size_t d = 0; d < form.batch.size(); ++d) {
    const Expr stride = form.b.batch[d];
    all = all && (stride.is(0) || (stride.to_int() && form.batch[d].to_int()));
  }
  return all;
}

MatmulStrides strides_at(const LibraryTensor& tensor, const Bindings& bindings) {
  MatmulStrides strides{.batch = {},
                        .row = value_at(tensor.row, bindings),
                        .column = value_at(tensor.column, bindings)};
  for (Expr stride : tensor.batch) strides.batch.push_back(value_at(stride, bindings));
  return strides;
}

}  // namespace

Result<LibraryForm> library_form(const Kernel& kernel, bool finite) {
  using Found = Result<LibraryForm>;
  const auto& contraction = kernel::forms_of(kernel).contraction;
  if (!contraction) return Found::failure("it is not a matrix product");
  if (contraction->contractions.size() > 1) return Found::failure("it holds several products");
  const auto n_outputs = std::ranges::count_if(kernel.params, &kernel::Param::output);
  if (n_outputs != 1) return Found::failure("it has several results");
  const kernel::Contraction& product = contraction->contractions.front();
  const Stage& sums = kernel.stages[product.stage];
  const std::optional<StridedAccess> a = plain_tensor(kernel, sums, product.left);
  const std::optional<StridedAccess> b = plain_tensor(kernel, sums, product.right);
  if (!a || !b || a->dtype != b->dtype) {
    return Found::failure("its factors aren't two tensors of f32 or two of bf16");
  }

  const Stage& last = kernel.stages.back();
  const auto* target = std::get_if<kernel::OutputTarget>(&last.target);
  if (target == nullptr) return Found::failure("it doesn't store the result of its last stage");
  const std::optional<StridedAccess> c = access(kernel, target->param, target->index);
  if (!c) return Found::failure("its result is not a matrix of f32 or bf16");
  Epilogue epilogue(kernel, product.stage, finite);
  if (!last.reduction) {
    if (std::string why = epilogue.take(last); !why.empty()) return Found::failure(std::move(why));
  }

  std::vector<StridedAccess> tensors = {*a, *b, *c};
  for (const Step& step : epilogue.steps()) {
    if (step.tensor) tensors.push_back(*step.tensor);
  }
  const auto n_uses = std::ranges::count(tensors, b->param, &StridedAccess::param);
  if (n_uses > 1) return Found::failure("it reads its right factor twice");

  std::vector<LoopId> rows = contraction->rows, columns = contraction->columns;
  const std::vector<LoopId> m = take_merged(kernel, rows, tensors);
  const std::vector<LoopId> n = take_merged(kernel, columns, tensors);
  std::vector<LoopId> batch = contraction->batch;
  batch.insert(batch.end(), rows.begin(), rows.end());
  batch.insert(batch.end(), columns.begin(), columns.end());
  const std::vector<LoopId> k = {product.k};

  LibraryForm form{.batch = {},
                   .m = count(kernel, m),
                   .n = count(kernel, n),
                   .k = count(kernel, k),
                   .a = tensor_of(*a, batch, m, k),
                   .b = tensor_of(*b, batch, k, n),
                   .c = tensor_of(*c, batch, m, n),
                   .bias = {},
                   .post_ops = {}};
  for (LoopId loop : batch) form.batch.push_back(extent_of(kernel, loop));
  for (const Step& step : epilogue.steps()) {
    std::optional<LibraryTensor> tensor;
    if (step.tensor) tensor = tensor_of(*step.tensor, batch, m, n);
    const bool first = form.post_ops.empty() && !form.bias;
    if (first && step.kind == PostOpKind::Add && is_row_of_n(*tensor)) {
      form.bias = tensor;
    } else {
      form.post_ops.push_back({step.kind, std::move(tensor)});
    }
  }
  if (!has_static_b(form)) return Found::failure("the sizes of its right factor aren't fixed");
  return form;
}

int64_t value_at(Expr e, const Bindings& bindings) {
  const Expr::Value value = e.evaluate(bindings);
  LUMINAL_CHECK(value.value.has_value(), e.text() + " has no value: " + value.why);
  return *value.value;
}

LibraryMatmulShape shape_at(const LibraryForm& form, const Bindings& bindings, bool pack_b) {
  LibraryMatmulShape shape{.dtype = form.a.dtype,
                           .result = form.c.dtype,
                           .batch = {},
                           .m = value_at(form.m, bindings),
                           .n = value_at(form.n, bindings),
                           .k = value_at(form.k, bindings),
                           .a = strides_at(form.a, bindings),
                           .b = strides_at(form.b, bindings),
                           .c = strides_at(form.c, bindings),
                           .pack_b = pack_b,
                           .bias = {},
                           .post_ops = {}};
  for (Expr size : form.batch) shape.batch.push_back(value_at(size, bindings));
  if (form.bias) shape.bias = form.bias->dtype;
  for (const LibraryPostOp& op : form.post_ops) {
    PostOp made{.kind = op.kind};
    if (op.tensor) {
      made.dtype = op.tensor->dtype;
      made.strides = strides_at(*op.tensor, bindings);
    }
    shape.post_ops.push_back(std::move(made));
  }
  return shape;
}

}  // namespace luminal::backends::cpu
