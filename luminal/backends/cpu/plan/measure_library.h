// A kernel timed both ways: as compiled code, and as a product of the library.
#pragma once

#include "luminal/backends/cpu/llvm/jit.h"
#include "luminal/backends/cpu/onednn/library_step.h"

namespace luminal::backends::cpu {

struct MeasuredLibrary {
  double own_seconds = 0;  // medians
  double library_seconds = 0;
};

// In rounds of either in turn, at the typical sizes of the options, on numbers that are the same in
// every call. `own` may read other tensors than `kernel`, which is what the library's step was made
// of: panels.
MeasuredLibrary measure_library(const kernel::Kernel& kernel, const LibraryStep& library,
                                const CompiledKernel& own, const LoadOptions& options);

}  // namespace luminal::backends::cpu
