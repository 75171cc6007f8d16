#include "luminal/backends/cpu/llvm/jit_session.h"

#include "luminal/backends/cpu/llvm/emit_kernel.h"
#include "luminal/backends/cpu/math/host_math.h"
#include "luminal/backends/cpu/math/shared_math.h"
#include "luminal/base/check.h"

namespace luminal::backends::cpu {
namespace {

template <typename T>
T value_of(llvm::Expected<T> expected, const char* what) {
  if (!expected) {
    LUMINAL_CHECK(false, std::string(what) + ": " + llvm::toString(expected.takeError()));
  }
  return std::move(*expected);
}

void check(llvm::Error error, const char* what) {
  if (error) LUMINAL_CHECK(false, std::string(what) + ": " + llvm::toString(std::move(error)));
}

// Compiles the math functions that kernels share when the first kernel calls them.
class MathGenerator : public llvm::orc::DefinitionGenerator {
 public:
  MathGenerator(llvm::orc::LLJIT& jit, CodeGenerator& generator)
      : jit_(jit), generator_(generator) {}

  llvm::Error tryToGenerate(llvm::orc::LookupState& /*state*/, llvm::orc::LookupKind /*kind*/,
                            llvm::orc::JITDylib& library, llvm::orc::JITDylibLookupFlags /*flags*/,
                            const llvm::orc::SymbolLookupSet& symbols) override {
    for (const auto& [symbol, flags] : symbols) {
      llvm::LLVMContext context;
      const std::string name((*symbol).str());
      auto module = emit_math(context, name, generator_.target());
      if (module == nullptr) continue;
      generator_.prepare(*module);
      generator_.optimize(*module);
      auto object = llvm::MemoryBuffer::getMemBufferCopy(generator_.to_object(*module), name);
      if (llvm::Error error = jit_.addObjectFile(library, std::move(object))) return error;
    }
    return llvm::Error::success();
  }

 private:
  llvm::orc::LLJIT& jit_;
  CodeGenerator& generator_;
};

}  // namespace

LoadedCode::~LoadedCode() {
  llvm::consumeError(session_->jit_->getExecutionSession().removeJITDylib(library_));
}

JitSession::JitSession(const Target& target) : generator_(target) {
  jit_ = value_of(
      llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(generator_.machine_builder()).create(),
      "LLJIT");
  llvm::orc::SymbolMap symbols;
  for (const HostFunction& function : host_functions()) {
    symbols[jit_->mangleAndIntern(function.name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function.address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }
  check(jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(symbols)), "host functions");
  jit_->getMainJITDylib().addGenerator(std::make_unique<MathGenerator>(*jit_, generator_));
}

std::shared_ptr<LoadedCode> JitSession::load(std::string_view object) {
  std::string name;
  {
    std::lock_guard lock(mutex_);
    name = "kernel" + std::to_string(n_libraries_++);
  }
  llvm::orc::JITDylib& library = value_of<std::reference_wrapper<llvm::orc::JITDylib>>(
      [&]() -> llvm::Expected<std::reference_wrapper<llvm::orc::JITDylib>> {
        auto made = jit_->createJITDylib(name);
        if (!made) return made.takeError();
        return std::ref(*made);
      }(),
      "library");
  library.addToLinkOrder(jit_->getMainJITDylib());
  auto copy = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object), name);
  check(jit_->addObjectFile(library, std::move(copy)), "object");
  auto address = value_of(jit_->lookup(library, kKernelSymbol), "kernel");
  return std::make_shared<LoadedCode>(shared_from_this(), library, address.toPtr<void*>());
}

}  // namespace luminal::backends::cpu
