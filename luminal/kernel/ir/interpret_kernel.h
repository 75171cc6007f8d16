// The reference of what a kernel means: its loops run as they are written, by the graph
// interpreter's ops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "luminal/graph/interpret/arithmetic.h"
#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// Runs the kernel over `params`, one per parameter, contiguous; outputs are written. Every variable
// is bound. Floats accumulate in f64 and round where the kernel says, so results differ from a
// compiled kernel's by the order of its sums and by its polynomials only. Returns the largest
// finite magnitude of all floats inside: what cancels leaves roundings of that size.
double interpret_kernel(const Kernel& kernel, const Bindings& bindings,
                        std::span<std::byte* const> params,
                        const interpret::Arithmetic& arithmetic = {});

struct WrittenElement {
  size_t param;
  int64_t at;  // in row-major order
};

struct InterpretedPoints {
  std::vector<WrittenElement> written;
  double largest = 0;  // as interpret_kernel() returns it
};

// The same at some points of the outer loops alone, by their place in row-major order. For kernels
// without a stage that updates rows: what other points wrote would be missing there.
InterpretedPoints interpret_points(const Kernel& kernel, const Bindings& bindings,
                                   std::span<std::byte* const> params,
                                   std::span<const int64_t> points,
                                   const interpret::Arithmetic& arithmetic = {});

// Points of the outer loops, and instructions of the body run by the interpreter for all of them.
struct InterpretedWork {
  int64_t points = 0;
  double operations = 0;
};
InterpretedWork interpreted_work(const Kernel& kernel, const Bindings& bindings);

}  // namespace luminal::kernel
