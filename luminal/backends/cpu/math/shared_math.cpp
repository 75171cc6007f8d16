#include "luminal/backends/cpu/math/shared_math.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "luminal/backends/cpu/math/vector_math.h"

namespace luminal::backends::cpu {
namespace {

constexpr Op kShared[] = {Op::Exp2, Op::Log2, Op::Sin, Op::Mod};
constexpr unsigned kWidest = 64;

std::string symbol_of(Op op, unsigned lanes) {
  return fmt::format("luminal_{}_f32x{}", name(op), lanes);
}

struct Shared {
  Op op;
  unsigned lanes;
};

std::optional<Shared> from_symbol(std::string_view symbol) {
  for (Op op : kShared) {
    for (unsigned lanes = 1; lanes <= kWidest; lanes *= 2) {
      if (symbol == symbol_of(op, lanes)) return Shared{op, lanes};
    }
  }
  return std::nullopt;
}

llvm::Value* apply(VectorMath& math, Op op, llvm::Function& function) {
  llvm::Value* x = function.getArg(0);
  if (op == Op::Exp2) return math.exp2(x);
  if (op == Op::Log2) return math.log2(x);
  if (op == Op::Sin) return math.sin(x);
  return math.mod(x, function.getArg(1));
}

}  // namespace

bool is_transcendental(Op op) { return std::ranges::find(kShared, op) != std::end(kShared); }

llvm::Function* declare_math(llvm::Module& module, Op op, llvm::Type* type) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  const std::string symbol = symbol_of(op, vector == nullptr ? 1 : vector->getNumElements());
  if (llvm::Function* known = module.getFunction(symbol)) return known;
  const std::vector<llvm::Type*> arguments(static_cast<size_t>(arity(op)), type);
  auto* made = llvm::Function::Create(llvm::FunctionType::get(type, arguments, false),
                                      llvm::Function::ExternalLinkage, symbol, module);
  made->setDoesNotThrow();
  return made;
}

bool define_math(llvm::Function& function, const Target& target) {
  const std::optional<Shared> shared = from_symbol(function.getName());
  if (!shared) return false;
  set_target(function, target);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(function.getContext(), "", &function));
  VectorMath math(builder, target);
  llvm::Value* result = apply(math, shared->op, function);
  builder.CreateRet(result);
  return true;
}

std::unique_ptr<llvm::Module> emit_math(llvm::LLVMContext& context, std::string_view symbol,
                                        const Target& target) {
  const std::optional<Shared> shared = from_symbol(symbol);
  if (!shared) return nullptr;
  auto module = std::make_unique<llvm::Module>("math", context);
  llvm::Type* type = llvm::Type::getFloatTy(context);
  if (shared->lanes > 1) type = llvm::FixedVectorType::get(type, shared->lanes);
  define_math(*declare_math(*module, shared->op, type), target);
  return module;
}

void set_target(llvm::Function& function, const Target& target) {
  function.addFnAttr("target-cpu", target.cpu);
  function.addFnAttr("target-features", target.features);
  const std::string width = std::to_string(target.vector_bytes * 8);
  function.addFnAttr("prefer-vector-width", width);
  function.addFnAttr("min-legal-vector-width", width);
  function.addFnAttr("no-trapping-math", "true");
  function.setDoesNotThrow();
}

}  // namespace luminal::backends::cpu
