// Times a kernel both ways: as compiled code and as a library call.
#pragma once

#include "luminal/backends/cpu/llvm/jit.h"
#include "luminal/backends/cpu/onednn/library_step.h"

namespace luminal::backends::cpu {

struct MeasuredLibrary {
  double own_seconds = 0;  // medians
  double library_seconds = 0;
};

// Alternates rounds of both, at the typical sizes of the options, on the same random data in every
// call. `kernel` is what the library's step was made from; `own` may read other tensors: panels.
MeasuredLibrary measure_library(const kernel::Kernel& kernel, const LibraryStep& library,
                                const CompiledKernel& own, const LoadOptions& options);

}  // namespace luminal::backends::cpu
