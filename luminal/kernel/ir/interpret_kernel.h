// Reference semantics of a kernel: its loops run as written, with the graph interpreter's ops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "luminal/graph/interpret/arithmetic.h"
#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// Runs the kernel over `params`, one contiguous buffer per parameter; outputs are written. Every
// variable must be bound. Floats accumulate in f64 and are rounded where the kernel says, so
// results differ from a compiled kernel's only by summation order and polynomial approximations.
// Returns the largest finite magnitude of any float inside: after cancellation, rounding errors are
// relative to it.
double interpret_kernel(const Kernel& kernel, const Bindings& bindings,
                        std::span<std::byte* const> params,
                        const interpret::Arithmetic& arithmetic = {});

struct WrittenElement {
  ParamId param;
  int64_t at;  // in row-major order
};

struct InterpretedPoints {
  std::vector<WrittenElement> written;
  double largest = 0;  // as interpret_kernel() returns it
};

// The same at some points of the outer loops only, given by row-major number. Not for kernels that
// update rows (UpdateTarget): what other points wrote would be missing.
InterpretedPoints interpret_points(const Kernel& kernel, const Bindings& bindings,
                                   std::span<std::byte* const> params,
                                   std::span<const int64_t> points,
                                   const interpret::Arithmetic& arithmetic = {});

// Number of outer points, and of instructions that the interpreter runs for all of them.
struct InterpretedWork {
  int64_t points = 0;
  double operations = 0;
};
InterpretedWork interpreted_work(const Kernel& kernel, const Bindings& bindings);

}  // namespace luminal::kernel
