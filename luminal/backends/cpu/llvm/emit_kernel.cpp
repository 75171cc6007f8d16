#include "luminal/backends/cpu/llvm/emit_kernel.h"

#include <llvm/IR/IntrinsicsX86.h>

#include "luminal/backends/cpu/math/shared_math.h"
#include "luminal/backends/cpu/matmul/emit_row_blocks.h"
#include "luminal/backends/cpu/matmul/emit_shared_rows.h"
#include "luminal/backends/cpu/matmul/emit_tiles.h"
#include "luminal/backends/cpu/micro/micro_kernel.h"
#include "luminal/backends/cpu/stage/emit_stage.h"

namespace luminal::backends::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Value;

// A kernel with more transcendental ops than this calls functions instead of inlining them.
// Compiling a sine takes 12 ms, an exp2 1.5 ms.
constexpr int kMostInLine = 32;
// With more instructions than this all chunks are masked: the body is then compiled once instead of
// twice, for whole and masked chunks, and the cost of a mask is negligible in so large a body.
constexpr size_t kMostTwice = 96;

bool has_many_transcendental(const kernel::Kernel& kernel) {
  int count = 0;  // weighted: 1 is the compile time of an exp2
  for (const kernel::Stage& stage : kernel.stages) {
    for (const kernel::Inst& inst : stage.body) {
      const auto* op = std::get_if<kernel::OpInst>(&inst.what);
      if (op == nullptr || !is_float(inst.dtype) || !is_transcendental(op->op)) continue;
      count += op->op == Op::Sin ? 8 : op->op == Op::Mod ? 2 : 1;
    }
  }
  return count > kMostInLine;
}

size_t n_instructions(const kernel::Kernel& kernel) {
  size_t count = 0;
  for (const kernel::Stage& stage : kernel.stages) count += stage.body.size();
  return count;
}

class KernelEmitter {
 public:
  KernelEmitter(llvm::LLVMContext& context, const Schedule& schedule, const Target& target,
                const EmitOptions& options)
      : module_(std::make_unique<llvm::Module>("kernel", context)),
        schedule_(schedule),
        target_(target),
        builder_(context),
        index_(builder_),
        ops_(builder_, target),
        memory_(builder_, index_, ops_),
        loops_(builder_, index_),
        state_{.schedule = schedule,
               .options = options,
               .builder = builder_,
               .index = index_,
               .ops = ops_,
               .memory = memory_,
               .loops = loops_,
               .params = {},
               .has_elements = {},
               .locals = IdVector<kernel::StageId, Values>(schedule.stages.size()),
               .strays = StrayRows(builder_)} {
    declare();
    if (has_many_transcendental(*schedule.kernel)) ops_.share_functions();
  }

  std::unique_ptr<llvm::Module> emit();

 private:
  void declare();
  void read_arguments();
  void emit_points();
  void emit_rows();
  // Emits a loop over the points first … last − 1 of the first `n` outer loops.
  void for_each_point(int n, Value* first, Value* last, const std::function<void(Value*)>& body);

  std::unique_ptr<llvm::Module> module_;
  const Schedule& schedule_;
  const Target& target_;
  Builder builder_;
  IndexEmitter index_;
  OpEmitter ops_;
  MemoryEmitter memory_;
  LoopEmitter loops_;
  EmitState state_;
  Function* function_ = nullptr;
};

void KernelEmitter::declare() {
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Type* i64 = builder_.getInt64Ty();
  auto* type =
      llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, i64, i64, pointer}, false);
  function_ = Function::Create(type, Function::ExternalLinkage, kKernelSymbol, *module_);
  set_target(*function_, target_);
}

std::unique_ptr<llvm::Module> KernelEmitter::emit() {
  llvm::LLVMContext& context = module_->getContext();
  auto* entry = BasicBlock::Create(context, "entry", function_);
  auto* work = BasicBlock::Create(context, "work", function_);
  auto* done = BasicBlock::Create(context, "done", function_);
  builder_.SetInsertPoint(entry);
  Value* some = builder_.CreateICmpSLT(function_->getArg(2), function_->getArg(3));
  builder_.CreateCondBr(some, work, done);
  builder_.SetInsertPoint(work);
  index_.open_level();
  read_arguments();
  if (schedule_.tiling) {
    const Tiling& tiling = *schedule_.tiling;
    const Multiply multiply = tiling.integers_on_tiles ? Multiply::Bf16Tiles : tiling.multiply;
    emit_micro_kernel_setup(builder_, target_, multiply, tiling.shape);
    TileEmitter(state_, target_).emit(function_->getArg(2), function_->getArg(3));
    emit_micro_kernel_release(builder_, multiply);
  } else if (schedule_.row_blocks) {
    RowBlockEmitter(state_, target_).emit(function_->getArg(2), function_->getArg(3));
  } else if (schedule_.vector_outer) {
    emit_rows();
  } else {
    emit_points();
  }
  index_.close_level();
  state_.strays.note_collected(state_.scratch);
  // On x86 non-temporal stores are weakly ordered and need a fence.
  if (state_.used_nontemporal && target_.x86) {
    builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, llvm::ArrayRef<Value*>());
  }
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
  builder_.CreateRetVoid();
  state_.strays.lower(state_.scratch);
  return std::move(module_);
}

// Reads the arguments in the outermost level, so that every loop can use them.
void KernelEmitter::read_arguments() {
  Builder::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(index_.anchor(0));
  llvm::Type* pointer = builder_.getPtrTy();
  llvm::Type* i64 = builder_.getInt64Ty();
  const kernel::Kernel& kernel = *schedule_.kernel;
  for (size_t k = 0; k < kernel.variables.size(); ++k) {
    Value* address = builder_.CreateConstGEP1_64(i64, function_->getArg(1), k);
    index_.set_variable(kernel.variables[k], builder_.CreateLoad(i64, address));
  }
  state_.scratch = function_->getArg(4);
  for (kernel::ParamId k : kernel.params.ids()) {
    Value* slot = builder_.CreateConstGEP1_64(pointer, function_->getArg(0), k.value);
    Value* address = builder_.CreateLoad(pointer, slot);
    Value* has_elements = nullptr;
    if (schedule_.may_be_empty[k]) {
      Value* count = index_.scalar(n_elements(kernel.params[k].dims));
      Value* some = builder_.CreateICmpNE(count, builder_.getInt64(0));
      Value* spare =
          builder_.CreateConstGEP1_64(builder_.getInt8Ty(), state_.scratch, kSpareBytes / 2);
      address = builder_.CreateSelect(some, address, spare);
      has_elements = builder_.CreateSExt(some, i64);
    }
    state_.params.push_back(address);
    state_.has_elements.push_back(has_elements);
  }
}

void KernelEmitter::for_each_point(int n, Value* first, Value* last,
                                   const std::function<void(Value*)>& body) {
  // The indices of the first point by division, innermost loop first; after that they count up.
  Values extents, start(static_cast<size_t>(n));
  for (int k = 0; k < n; ++k) {
    extents.push_back(index_.scalar(schedule_.extents[kernel::LoopId::at(k)]));
  }
  Value* rest = first;
  for (int k = n - 1; k >= 0; --k) {
    start[k] = k == 0 ? rest : builder_.CreateURem(rest, extents[k]);
    if (k > 0) rest = builder_.CreateUDiv(rest, extents[k]);
  }
  loops_.counted(first, last, 1, start, [&](Value* point, const Values& indices) {
    index_.open_level();
    for (int k = 0; k < n; ++k) index_.set_loop(kernel::LoopId::at(k), {indices[k]});
    body(point);
    for (int k = 0; k < n; ++k) index_.unset_loop(kernel::LoopId::at(k));
    index_.close_level();
    Values next = indices;
    Value* carry = nullptr;
    for (int k = n - 1; k >= 0; --k) {
      Value* one = builder_.getInt64(1);
      next[k] = builder_.CreateAdd(
          indices[k], carry == nullptr ? one : builder_.CreateZExt(carry, builder_.getInt64Ty()));
      if (k == 0) break;
      carry = builder_.CreateICmpEQ(next[k], extents[k]);
      next[k] = builder_.CreateSelect(carry, builder_.getInt64(0), next[k]);
    }
    return next;
  });
}

void KernelEmitter::emit_points() {
  Value *begin = function_->getArg(2), *end = function_->getArg(3);
  for_each_point(schedule_.n_outer, begin, end, [&](Value*) {
    for (kernel::StageId k : schedule_.kernel->stages.ids()) {
      const auto shared = std::ranges::find(schedule_.shared_rows, k, &SharedRows::stage);
      if (shared != schedule_.shared_rows.end()) {
        SharedRowsEmitter(state_, *shared).emit();
      } else {
        StageEmitter(state_, k).emit();
      }
    }
  });
}

// For a vectorised last outer loop: the points are ranges of rows.
void KernelEmitter::emit_rows() {
  const kernel::LoopId last = last_outer(schedule_);
  Value *begin = function_->getArg(2), *end = function_->getArg(3);
  auto row = [&](Value* from, Value* to) {
    // Stages are emitted twice, for whole and for masked chunks; instructions that are invariant in
    // the vector loop are hoisted before both, to the row's level.
    const int row_level = index_.level();
    auto emit_all = [&](const Values&) {
      for (kernel::StageId k : schedule_.stages.ids()) {
        StageEmitter stage(state_, k);
        stage.emit_hoisted(row_level);
        stage.emit();
      }
      return Values();
    };
    // Not on targets without masked loads and stores, which would access lanes one by one, nor with
    // non-temporal stores, which can't be masked.
    const bool masked = target_.vector_bytes >= 32 && !state_.options.nontemporal_stores &&
                        n_instructions(*schedule_.kernel) > kMostTwice;
    loops_.chunked({.loop = last,
                    .from = from,
                    .to = to,
                    .lanes = schedule_.lanes,
                    .unroll = schedule_.unroll,
                    .masked = masked},
                   {}, emit_all);
  };
  if (schedule_.n_outer == 1) return row(begin, end);
  Value* length = index_.scalar(schedule_.extents[last]);
  Value* one = builder_.getInt64(1);
  Value* first_row = builder_.CreateUDiv(begin, length);
  Value* last_row = builder_.CreateUDiv(builder_.CreateSub(end, one), length);
  Value* first_from = builder_.CreateSub(begin, builder_.CreateMul(first_row, length));
  Value* last_to = builder_.CreateSub(end, builder_.CreateMul(last_row, length));
  for_each_point(
      schedule_.n_outer - 1, first_row, builder_.CreateAdd(last_row, one), [&](Value* point) {
        Value* from = builder_.CreateSelect(builder_.CreateICmpEQ(point, first_row), first_from,
                                            builder_.getInt64(0));
        Value* to = builder_.CreateSelect(builder_.CreateICmpEQ(point, last_row), last_to, length);
        row(from, to);
      });
}

}  // namespace

std::unique_ptr<llvm::Module> emit_kernel(llvm::LLVMContext& context, const Schedule& schedule,
                                          const Target& target, const EmitOptions& options) {
  return KernelEmitter(context, schedule, target, options).emit();
}

}  // namespace luminal::backends::cpu
