// CodeGenerator: compiles modules to machine code for one target, which need not be this machine's.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "luminal/backends/cpu/target/target.h"

namespace luminal::backends::cpu {

class CodeGenerator {
 public:
  // UserError if LLVM was built without this target.
  explicit CodeGenerator(const Target& target);

  const Target& target() const { return target_; }
  // Identifies everything except the module that determines the machine code.
  const std::string& fingerprint() const { return fingerprint_; }
  const llvm::orc::JITTargetMachineBuilder& machine_builder() const { return machine_builder_; }

  // These are thread-safe.
  void prepare(llvm::Module& module) const;  // data layout and triple
  void optimize(llvm::Module& module);
  std::string to_object(llvm::Module& module) { return generate(module, false); }
  std::string to_assembly(llvm::Module& module) { return generate(module, true); }

 private:
  // A target machine isn't thread-safe: each thread leases one.
  class Lease;
  std::string generate(llvm::Module& module, bool assembly);

  Target target_;
  llvm::orc::JITTargetMachineBuilder machine_builder_;
  llvm::DataLayout layout_;
  std::string fingerprint_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<llvm::TargetMachine>> machines_;
};

}  // namespace luminal::backends::cpu
