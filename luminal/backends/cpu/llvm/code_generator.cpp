#include "luminal/backends/cpu/llvm/code_generator.h"

#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#if LLVM_VERSION_MAJOR >= 20
#include <llvm/CodeGen/CodeGenTargetMachineImpl.h>
#endif

#include <algorithm>

#include "luminal/backends/cpu/micro/micro_kernel.h"
#include "luminal/backends/cpu/target/other_targets.h"
#include "luminal/base/check.h"
#include "luminal/base/errors.h"

namespace luminal::backends::cpu {
namespace {

// Kernels are already vectorised and unrolled, so a short list suffices: 3–9 ms per kernel, where
// O3 takes 8–20. Passes are named by type, since the parser of pass names would link every pass of
// LLVM: 10 MB in a static build.
llvm::ModulePassManager make_passes() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setVerifyFixpoint(false)));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::EarlyCSEPass());
  llvm::ModulePassManager all;
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  return all;
}

std::string passes_text() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  make_passes().printPipeline(stream, [](llvm::StringRef name) { return name; });
  return text;
}

#if LLVM_VERSION_MAJOR >= 20
using CodeGenMachine = llvm::CodeGenTargetMachineImpl;
#else
using CodeGenMachine = llvm::LLVMTargetMachine;
#endif

bool has_micro_kernels(const llvm::Module& module) {
  return std::ranges::any_of(module, [](const llvm::Function& function) {
    return function.hasFnAttribute(kHasMicroKernels);
  });
}

// TargetMachine::addPassesToEmitFile(), with one pass less where a module has micro kernels: LICM
// of machine code, which moves the constants of an epilogue out of all loops. There they took the
// registers of the sums: a product with GELU by erf took 2.3 times as long as the product. What
// doesn't change in a loop of the IR has left it before.
bool add_passes(CodeGenMachine& machine, const llvm::Module& module,
                llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& stream,
                llvm::CodeGenFileType type) {
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  if (has_micro_kernels(module)) config->disablePass(&llvm::EarlyMachineLICMID);
  auto* functions = new llvm::MachineModuleInfoWrapperPass(&machine);
  passes.add(config);
  passes.add(functions);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, stream, nullptr, type, functions->getMMI().getContext()))
    return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

void initialize(const llvm::Triple& triple) {
  static const bool native = [] {
    return !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  }();
  LUMINAL_CHECK(native, "LLVM has no target for this machine");
  if (triple.getArch() == llvm::Triple(llvm::sys::getProcessTriple()).getArch()) return;
  static std::once_flag others;
  std::call_once(others, initialize_other_targets);
}

llvm::orc::JITTargetMachineBuilder builder_for(const Target& target) {
  const llvm::Triple triple(target.triple);
  initialize(triple);
  llvm::orc::JITTargetMachineBuilder builder{triple};
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

llvm::DataLayout layout_of(llvm::orc::JITTargetMachineBuilder& builder, const Target& target) {
  llvm::Expected<llvm::DataLayout> layout = builder.getDefaultDataLayoutForTarget();
  if (layout) return *layout;
  throw UserError("this LLVM can't compile for " + target.name + ": " +
                  llvm::toString(layout.takeError()));
}

}  // namespace

// Borrows a target machine from the pool, or creates one.
class CodeGenerator::Lease {
 public:
  explicit Lease(CodeGenerator& generator) : generator_(generator) {
    {
      std::lock_guard lock(generator.mutex_);
      if (!generator.machines_.empty()) {
        machine_ = std::move(generator.machines_.back());
        generator.machines_.pop_back();
        return;
      }
    }
    auto made = generator.machine_builder_.createTargetMachine();
    if (!made) LUMINAL_CHECK(false, "target machine: " + llvm::toString(made.takeError()));
    machine_ = std::move(*made);
  }
  ~Lease() {
    std::lock_guard lock(generator_.mutex_);
    generator_.machines_.push_back(std::move(machine_));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  llvm::TargetMachine* operator->() const { return machine_.get(); }
  llvm::TargetMachine* get() const { return machine_.get(); }

 private:
  CodeGenerator& generator_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

CodeGenerator::CodeGenerator(const Target& target)
    : target_(target),
      machine_builder_(builder_for(target)),
      layout_(layout_of(machine_builder_, target)) {
  fingerprint_ = std::string("luminal-cpu-2 LLVM ") + LLVM_VERSION_STRING + " " + passes_text() +
                 " " + target.triple + " " + target.cpu + " " + target.features;
}

void CodeGenerator::prepare(llvm::Module& module) const {
  module.setDataLayout(layout_);
#if LLVM_VERSION_MAJOR >= 21
  module.setTargetTriple(llvm::Triple(target_.triple));
#else
  module.setTargetTriple(target_.triple);
#endif
}

void CodeGenerator::optimize(llvm::Module& module) {
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
  make_passes().run(module, module_analyses);
}

std::string CodeGenerator::generate(llvm::Module& module, bool assembly) {
  Lease machine(*this);
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  const auto type =
      assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  const bool added =
      add_passes(static_cast<CodeGenMachine&>(*machine.get()), module, passes, stream, type);
  LUMINAL_CHECK(added, "this target can't write object files");
  passes.run(module);
  return std::string(buffer.begin(), buffer.end());
}

}  // namespace luminal::backends::cpu
