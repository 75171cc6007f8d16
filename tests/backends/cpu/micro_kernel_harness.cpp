#include "tests/backends/cpu/micro_kernel_harness.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <cstddef>
#include <stdexcept>

#include "luminal/backends/cpu/llvm/emit_kernel.h"
#include "luminal/backends/cpu/llvm/jit_session.h"
#include "luminal/backends/cpu/stage/emit_loops.h"

namespace luminal::backends::cpu {
namespace {

using Call = CompiledMicroKernel::Call;
using Function = void (*)(const Call* calls, int64_t n);

// A function with the signature of Function around one micro kernel.
std::unique_ptr<llvm::Module> emit(llvm::LLVMContext& context, CodeGenerator& generator,
                                   Multiply multiply, MicroShape shape, DType narrow) {
  const Target& target = generator.target();
  auto module = std::make_unique<llvm::Module>("micro_kernel", context);
  Builder builder(context);
  llvm::Type* pointer = builder.getPtrTy();
  llvm::Type* i64 = builder.getInt64Ty();
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), {pointer, i64}, false);
  auto* function =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, kKernelSymbol, *module);
  function->addFnAttr("target-cpu", target.cpu);
  function->addFnAttr("target-features", target.features);
  const std::string width = std::to_string(target.vector_bytes * 8);
  function->addFnAttr("prefer-vector-width", width);
  function->addFnAttr("min-legal-vector-width", width);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
  emit_micro_kernel_setup(builder, target, multiply, shape);
  IndexEmitter index(builder);
  LoopEmitter(builder, index)
      .counted(builder.getInt64(0), function->getArg(1), 1, {}, [&](llvm::Value* i, const Values&) {
        auto field = [&](size_t offset, llvm::Type* field_type) {
          llvm::Value* at = builder.CreateAdd(builder.CreateMul(i, builder.getInt64(sizeof(Call))),
                                              builder.getInt64(offset));
          return builder.CreateLoad(field_type, builder.CreatePtrAdd(function->getArg(0), at));
        };
        const RowOperand left{field(offsetof(Call, left), pointer),
                              field(offsetof(Call, row_bytes), i64),
                              field(offsetof(Call, k_bytes), i64)};
        const PanelOperand right{field(offsetof(Call, right), pointer),
                                 field(offsetof(Call, panel_bytes), i64), narrow};
        llvm::Value* adds =
            builder.CreateICmpNE(field(offsetof(Call, adds), i64), builder.getInt64(0));
        emit_micro_kernel(builder, target, multiply, shape, left, right,
                          field(offsetof(Call, rows), i64), field(offsetof(Call, panels), i64),
                          field(offsetof(Call, k_count), i64), field(offsetof(Call, tile), pointer),
                          adds);
        return Values();
      });
  emit_micro_kernel_release(builder, multiply);
  builder.CreateRetVoid();
  generator.prepare(*module);
  std::string why;
  llvm::raw_string_ostream stream(why);
  if (llvm::verifyModule(*module, &stream)) throw std::runtime_error(why);
  generator.optimize(*module);
  return module;
}

}  // namespace

CompiledMicroKernel::CompiledMicroKernel(const Target& target, Multiply multiply, MicroShape shape,
                                         DType narrow) {
  auto session = std::make_shared<JitSession>(target);
  llvm::LLVMContext context;
  auto module = emit(context, session->generator(), multiply, shape, narrow);
  code_ = session->load(session->generator().to_object(*module));
}

void CompiledMicroKernel::operator()(std::span<const Call> calls) const {
  reinterpret_cast<Function>(code_->address())(calls.data(), static_cast<int64_t>(calls.size()));
}

std::string micro_kernel_assembly(const Target& target, Multiply multiply, MicroShape shape) {
  CodeGenerator generator(target);
  llvm::LLVMContext context;
  auto module = emit(context, generator, multiply, shape, DType::F32);
  return generator.to_assembly(*module);
}

}  // namespace luminal::backends::cpu
