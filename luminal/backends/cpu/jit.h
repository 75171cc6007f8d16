// Jit: kernels compiled in process, once each, and remembered on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "luminal/backends/cpu/schedule.h"
#include "luminal/backends/cpu/target.h"
#include "luminal/base/file_cache.h"
#include "luminal/kernel/kernel.h"

namespace luminal::backends::cpu {

class JitSession;  // LLVM's side of a Jit
class LoadedCode;  // the machine code of one kernel

// A kernel ready to run. Its code lives as long as this does.
class CompiledKernel {
 public:
  // Runs outer points begin … end − 1. Params are contiguous tensors aligned to their elements, one
  // address each; variables are in the order of Kernel::variables; scratch has scratch_bytes and is
  // aligned to 64. An output may share its memory with an input where kernel::may_share says so:
  // stages of a point run one after the other, and no point reads what another writes.
  using Function = void (*)(const void* const* params, const int64_t* variables, int64_t begin,
                            int64_t end, void* scratch);

  Function function() const { return function_; }
  const kernel::Kernel& kernel() const { return kernel_; }
  const Schedule& schedule() const { return schedule_; }
  const EmitOptions& options() const { return options_; }
  double compile_ms() const { return compile_ms_; }
  bool from_cache() const { return from_cache_; }

  // What it was made of, made again for reading: optimised IR and assembly.
  std::string llvm_ir() const;
  std::string assembly() const;

 private:
  friend class Jit;
  CompiledKernel(const kernel::Kernel& kernel, const Target& target, const EmitOptions& options);

  kernel::Kernel kernel_;
  EmitOptions options_;
  Schedule schedule_;  // refers to kernel_
  std::shared_ptr<JitSession> session_;
  std::shared_ptr<LoadedCode> code_;
  Function function_ = nullptr;
  double compile_ms_ = 0;
  bool from_cache_ = false;
};

class Jit {
 public:
  struct Options {
    Target target = Target::host();
    std::filesystem::path cache_folder;  // empty: no cache on disk
    uint64_t cache_bytes = base::FileCache::kDefaultBytes;
  };
  explicit Jit(Options options);
  ~Jit();

  // Equal kernels (by text and options) are compiled once and shared while any user holds them. May
  // be called from several threads at once. A kernel that can't be compiled is an InternalError.
  std::shared_ptr<const CompiledKernel> compile(const kernel::Kernel& kernel,
                                                const EmitOptions& options = {});
  const Target& target() const;
  base::FileCache::Counters cache_counters() const;
  // What kept the cache from doing its work, for a report; nothing where all is well.
  std::vector<std::string> cache_notes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The kernel as code for a target that need not be this machine, to be read or linked elsewhere.
enum class CodeForm : uint8_t { Assembly, Object };
std::string compile_for(const Target& target, const kernel::Kernel& kernel, CodeForm form,
                        const EmitOptions& options = {});

}  // namespace luminal::backends::cpu
