#include "luminal/backends/cpu/jit_session.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include "luminal/backends/cpu/emit_kernel.h"
#include "luminal/backends/cpu/host_math.h"
#include "luminal/base/check.h"

namespace luminal::backends::cpu {
namespace {

// Kernels come vectorised and unrolled, so a short list does: 3–9 ms a kernel where O3 takes 8–20.
constexpr const char* kPasses =
    "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),early-"
    "cse)";

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

llvm::orc::JITTargetMachineBuilder machine_builder(const Target& target) {
  static const bool initialized = [] {
    return !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  }();
  LUMINAL_CHECK(initialized, "LLVM has no target for this machine");
  llvm::orc::JITTargetMachineBuilder builder{llvm::Triple(llvm::sys::getProcessTriple())};
  builder.setCPU(target.cpu);
  builder.setRelocationModel(llvm::Reloc::PIC_);
  builder.setCodeModel(llvm::CodeModel::Small);
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  std::vector<std::string> features;
  for (size_t at = 0; at < target.features.size();) {
    size_t end = std::min(target.features.find(',', at), target.features.size());
    features.push_back(target.features.substr(at, end - at));
    at = end + 1;
  }
  builder.addFeatures(features);
  return builder;
}

}  // namespace

LoadedCode::~LoadedCode() {
  llvm::consumeError(session_->jit_->getExecutionSession().removeJITDylib(library_));
}

// Borrows a target machine, or makes one.
class JitSession::Lease {
 public:
  explicit Lease(JitSession& session) : session_(session) {
    {
      std::lock_guard lock(session.mutex_);
      if (!session.machines_.empty()) {
        machine_ = std::move(session.machines_.back());
        session.machines_.pop_back();
        return;
      }
    }
    machine_ = value_of(session.machine_builder_.createTargetMachine(), "target machine");
  }
  ~Lease() {
    std::lock_guard lock(session_.mutex_);
    session_.machines_.push_back(std::move(machine_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  llvm::TargetMachine* operator->() const { return machine_.get(); }
  llvm::TargetMachine* get() const { return machine_.get(); }

 private:
  JitSession& session_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

JitSession::JitSession(const Target& target)
    : target_(target), machine_builder_(machine_builder(target)) {
  jit_ = value_of(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(machine_builder_).create(),
                  "LLJIT");
  llvm::orc::SymbolMap symbols;
  for (const HostFunction& function : host_functions()) {
    symbols[jit_->mangleAndIntern(function.name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function.address),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  }
  check(jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(symbols)), "host functions");
  fingerprint_ = std::string("luminal-cpu-1 LLVM ") + LLVM_VERSION_STRING + " " + kPasses + " " +
                 target.cpu + " " + target.features;
}

void JitSession::prepare(llvm::Module& module) const {
  module.setDataLayout(jit_->getDataLayout());
  module.setTargetTriple(jit_->getTargetTriple().str());
}

void JitSession::optimize(llvm::Module& module) {
  Lease machine(*this);
  llvm::LoopAnalysisManager loop_analyses;
  llvm::FunctionAnalysisManager function_analyses;
  llvm::CGSCCAnalysisManager cgscc_analyses;
  llvm::ModuleAnalysisManager module_analyses;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(module_analyses);
  builder.registerCGSCCAnalyses(cgscc_analyses);
  builder.registerFunctionAnalyses(function_analyses);
  builder.registerLoopAnalyses(loop_analyses);
  builder.crossRegisterProxies(loop_analyses, function_analyses, cgscc_analyses, module_analyses);
  llvm::ModulePassManager passes;
  check(builder.parsePassPipeline(passes, kPasses), "pass list");
  passes.run(module, module_analyses);
}

std::string JitSession::generate(llvm::Module& module, bool assembly) {
  Lease machine(*this);
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  const auto type =
      assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  const bool failed = machine->addPassesToEmitFile(passes, stream, nullptr, type);
  LUMINAL_CHECK(!failed, "this target can't write object files");
  passes.run(module);
  return std::string(buffer.begin(), buffer.end());
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
