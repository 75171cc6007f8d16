// JitSession: LLVM's part of the Jit: from a module to machine code in memory.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "luminal/backends/cpu/target.h"

namespace luminal::backends::cpu {

class JitSession;

// One kernel's code; it is removed from memory with the last reference.
class LoadedCode {
 public:
  LoadedCode(std::shared_ptr<JitSession> session, llvm::orc::JITDylib& library, void* address)
      : session_(std::move(session)), library_(library), address_(address) {}
  ~LoadedCode();
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;
  void* address() const { return address_; }

 private:
  std::shared_ptr<JitSession> session_;
  llvm::orc::JITDylib& library_;
  void* address_;
};

class JitSession : public std::enable_shared_from_this<JitSession> {
 public:
  explicit JitSession(const Target& target);

  const Target& target() const { return target_; }
  // Names everything beside the module that decides the machine code.
  const std::string& fingerprint() const { return fingerprint_; }

  void prepare(llvm::Module& module) const;  // data layout and triple
  void optimize(llvm::Module& module);
  std::string to_object(llvm::Module& module) { return generate(module, false); }
  std::string to_assembly(llvm::Module& module) { return generate(module, true); }
  std::shared_ptr<LoadedCode> load(std::string_view object);

 private:
  // A target machine serves one thread at a time.
  class Lease;
  std::string generate(llvm::Module& module, bool assembly);

  Target target_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  llvm::orc::JITTargetMachineBuilder machine_builder_;
  std::string fingerprint_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<llvm::TargetMachine>> machines_;
  uint64_t n_libraries_ = 0;

  friend class LoadedCode;
};

}  // namespace luminal::backends::cpu
