// Runs a compiled kernel with each parameter and the scratch memory against unmapped pages.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "luminal/backends/cpu/llvm/jit.h"
#include "tests/support/guarded_memory.h"
#include "tests/support/random_source.h"

namespace luminal::tests {

// What a launch looks like to the memory: the kernel as it was meant (its parameters say how large
// the buffers are), and the code that runs.
struct GuardedLaunch {
  const kernel::Kernel* kernel = nullptr;
  backends::cpu::CompiledKernel::Function function = nullptr;
  std::vector<int64_t> variables = {};
  int64_t points = 0;
  int64_t scratch_bytes = 0;
  bool vector_outer = false;  // ranges of points start at multiples of 64
  bool nontemporal_stores = false;
};

GuardedLaunch guarded_launch(const backends::cpu::CompiledKernel& kernel,
                             std::span<const int64_t> variables);

// Runs it over random data, also as two ranges of points, against one end of every buffer and then
// the other. Says which buffer was left, or that the result depends on what lies around the
// buffers; nothing if all is well.
std::optional<std::string> escape_of(const GuardedLaunch& launch, GuardedMemory& memory,
                                     RandomSource& random, std::span<const GuardedSide> sides);

}  // namespace luminal::tests
