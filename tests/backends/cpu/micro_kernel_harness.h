// Micro kernels compiled alone, to be called.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "luminal/backends/cpu/micro/micro_kernel.h"

namespace luminal::backends::cpu {

class LoadedCode;

class CompiledMicroKernel {
 public:
  // What emit_micro_kernel is given, at run time.
  struct Call {
    const void* left;
    int64_t row_bytes, k_bytes;
    const void* right;
    int64_t panel_bytes;
    int64_t rows, panels, k_count;
    float* tile;
    int64_t adds = 0;
  };

  // The target is one that runs here. `narrow`: see PanelOperand.
  CompiledMicroKernel(const Target& target, Multiply multiply, MicroShape shape,
                      DType narrow = DType::F32);
  // One after the other, between one setup and one release.
  void operator()(std::span<const Call> calls) const;

 private:
  std::shared_ptr<LoadedCode> code_;
};

// The same for a target that need not run here, as assembly.
std::string micro_kernel_assembly(const Target& target, Multiply multiply, MicroShape shape);

}  // namespace luminal::backends::cpu
