// Jit: compiles kernels in process, each once, with a cache on disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "luminal/backends/cpu/llvm/kernel_function.h"
#include "luminal/backends/cpu/schedule/schedule.h"
#include "luminal/backends/cpu/target/target.h"
#include "luminal/base/files/file_cache.h"
#include "luminal/kernel/ir/kernel.h"

namespace luminal::backends::cpu {

class JitSession;  // LLVM's side of a Jit
class LoadedCode;  // the machine code of one kernel

// A kernel ready to run; it owns its code.
class CompiledKernel {
 public:
  using Function = KernelFunction;

  Function function() const { return function_; }
  const kernel::Kernel& kernel() const { return kernel_; }
  const LaunchForm& form() const { return form_; }
  // Only for a kernel that was compiled in this process: a loaded one has none.
  const Schedule& schedule() const { return *schedule_; }
  bool is_loaded() const { return !schedule_; }
  const EmitOptions& options() const { return options_; }
  // The object file, if Jit::Options::keep_objects is set.
  const std::string& object() const { return object_; }
  double compile_ms() const { return compile_ms_; }
  bool from_cache() const { return from_cache_; }

  // Optimised IR and assembly, generated again for reading. Not for a loaded one.
  std::string llvm_ir() const;
  std::string assembly() const;

 private:
  friend class Jit;
  CompiledKernel(const kernel::Kernel& kernel, const Target& target, const EmitOptions& options);
  CompiledKernel(const kernel::Kernel& kernel, const LaunchForm& form);

  kernel::Kernel kernel_;
  EmitOptions options_;
  std::optional<Schedule> schedule_;  // refers to kernel_
  LaunchForm form_;
  std::string object_;
  std::shared_ptr<JitSession> session_;
  std::shared_ptr<LoadedCode> code_;
  Function function_ = nullptr;
  double compile_ms_ = 0;
  bool from_cache_ = false;
};

// A kernel and its options as text: kernels with equal names have equal code.
std::string kernel_name(const kernel::Kernel& kernel, const EmitOptions& options);

class Jit {
 public:
  struct Options {
    Target target = Target::host();
    std::filesystem::path cache_folder;  // empty: no cache on disk
    uint64_t cache_bytes = base::FileCache::kDefaultBytes;
    bool keep_objects = false;  // CompiledKernel::object
  };
  explicit Jit(Options options);
  ~Jit();

  // Equal kernels (by text and options) are compiled once and shared while any user holds them.
  // Thread-safe. A kernel that can't be compiled is an InternalError.
  std::shared_ptr<const CompiledKernel> compile(const kernel::Kernel& kernel,
                                                const EmitOptions& options = {});
  // Loads the code of a kernel that was compiled before, possibly by another build. UserError if it
  // can't be linked here.
  std::shared_ptr<const CompiledKernel> load(const kernel::Kernel& kernel, const LaunchForm& form,
                                             std::string_view object);
  const Target& target() const;
  base::FileCache::Counters cache_counters() const;
  // Problems with the cache, for the report; empty if there are none.
  std::vector<std::string> cache_notes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Compiles a kernel for a target that need not be this machine's, to be read or linked elsewhere.
enum class CodeForm : uint8_t { Assembly, Object };
std::string compile_for(const Target& target, const kernel::Kernel& kernel, CodeForm form,
                        const EmitOptions& options = {});

}  // namespace luminal::backends::cpu
