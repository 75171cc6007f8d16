// CpuProgram: runs a plan's compiled kernels in order. Memory is planned when sizes change, and
// grows only when necessary.
#pragma once

#include <memory>
#include <vector>

#include "luminal/backends/backend.h"
#include "luminal/backends/cpu/launch/launch.h"
#include "luminal/backends/cpu/llvm/jit.h"
#include "luminal/backends/cpu/plan/run_plan.h"
#include "luminal/backends/cpu/program/folded_values.h"
#include "luminal/kernel/recognise/split_softmax.h"
#include "luminal/runtime/arena.h"
#include "luminal/runtime/memory_plan.h"
#include "luminal/runtime/program.h"

namespace luminal::backends::cpu {

class CpuProgram : public runtime::Program {
 public:
  // The code of one kernel of the plan: one compiled kernel, or two that run one after the other.
  struct StepCode {
    std::shared_ptr<const CompiledKernel> kernel;
    std::shared_ptr<const CompiledKernel> second = nullptr;
    std::shared_ptr<const kernel::SplitSoftmax> split = nullptr;  // if there are two
  };
  using Kernels = IdVector<kernel::KernelId, StepCode>;
  // Shared by programs that never run at the same time and have the same weights.
  struct Shared {
    runtime::Arena arena;
    FoldedValues folded;
  };
  // `plan` is the request's; `kernels` has the code of its kernel steps in the order of planning,
  // null for those that the library computes.
  CpuProgram(const LoadRequest& request, std::shared_ptr<const RunPlan> plan, Kernels kernels,
             std::shared_ptr<Shared> shared);

  const std::vector<runtime::Port>& ports() const override { return ports_; }
  runtime::MemoryUse plan_memory(const Bindings& bindings, bool list_tensors) override;
  void weights_changed() override;
  std::vector<bool> reads() const override;
  void run(const Bindings& bindings, std::span<const runtime::Buffer> buffers,
           const runtime::StepOptions& options) override;
  std::unique_ptr<Program> clone(const Program* beside) const override;

 private:
  // A step prepared for one set of sizes.
  struct ReadyStep {
    const RunStep* step = nullptr;
    Launch launch;          // of a kernel, or the first of two
    Launch second;          // of two
    LibraryLaunch library;  // of a kernel that the library computes
    CustomLaunch custom;    // of a custom op's own
    size_t scratch = 0;     // offsets in the arena
    size_t second_scratch = 0;
    std::vector<size_t> between = {};  // what the first kernel passes to the second
    const kernel::SplitSoftmax* split = nullptr;
    std::vector<const void*> params = {};                            // filled in when it runs
    std::vector<const void*> first_params = {}, second_params = {};  // of two
  };
  struct Layout {
    std::vector<ReadyStep> steps;
    std::vector<LaunchPart> parts, then;  // of the current launch
    IdVector<TensorId, size_t> offsets;   // in the arena, if it is there
    runtime::MemoryPlan memory;
  };

  CpuProgram(const CpuProgram& other, std::shared_ptr<Shared> shared);
  void prepare(const Bindings& bindings);
  Layout lay_out(const std::vector<RunStep>& steps, const Bindings& bindings) const;
  // By load step: whether it must run, since it computes missing values or inputs of such.
  std::vector<bool> missing_load_steps() const;
  void fold(std::span<const runtime::Buffer> buffers, const runtime::StepOptions& options);
  void find_addresses(const Layout& layout, std::byte* arena,
                      std::span<const runtime::Buffer> buffers);
  static void share_threads(Layout& layout, const LaunchOptions& options);
  void run_steps(Layout& layout, const Bindings& bindings, std::byte* arena,
                 const runtime::StepOptions& options);
  void run_watched(Layout& layout, const Bindings& bindings, std::byte* arena,
                   const runtime::StepOptions& options);
  // Adds a kernel's parts to the next launch.
  static void add_parts(ReadyStep& ready, std::byte* arena, Layout& layout);
  void run_step(Layout& layout, ReadyStep& ready, const Bindings& bindings, std::byte* arena,
                const runtime::StepOptions& options);
  static void judge_index(const runtime::StepOptions& options);
  void drop_spent(const RunStep& step);
  std::string describe(const ReadyStep& ready) const;
  std::string describe(const RunTensor& tensor) const;

  LoadRequest request_;
  Kernels kernels_;
  std::vector<runtime::Port> ports_;
  std::shared_ptr<const RunPlan> plan_;
  std::shared_ptr<Shared> shared_;

  // For the sizes of the last run.
  bool prepared_ = false;
  Bindings bindings_;
  IdVector<TensorId, size_t> bytes_;
  Layout layout_;
  IdVector<TensorId, std::byte*> addresses_;  // in this run

  std::vector<runtime::Buffer> folded_;  // by position in RunPlan::folded
  bool folded_is_current_ = false;
};

}  // namespace luminal::backends::cpu
