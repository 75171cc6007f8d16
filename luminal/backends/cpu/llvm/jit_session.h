// JitSession: the part of Jit that uses LLVM: the code generator and the loaded machine code.
//
// Internal to the CPU back end: LLVM types.
#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <memory>
#include <mutex>
#include <string>

#include "luminal/backends/cpu/llvm/code_generator.h"

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

  CodeGenerator& generator() { return generator_; }
  std::shared_ptr<LoadedCode> load(std::string_view object);

 private:
  CodeGenerator generator_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::mutex mutex_;
  uint64_t n_libraries_ = 0;

  friend class LoadedCode;
};

}  // namespace luminal::backends::cpu
