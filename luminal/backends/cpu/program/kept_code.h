// Kept code: the compiled kernels of a plan as bytes, so that another process, or a later build,
// runs the very same machine code.
#pragma once

#include <string>
#include <string_view>

#include "luminal/backends/cpu/program/cpu_program.h"

namespace luminal::backends::cpu {

// `kernels` must have been compiled with Jit::Options::keep_objects, none of them by a library.
std::string write_code(const CpuProgram::Kernels& kernels, const Target& target);

// The kernels of `plan` from what write_code wrote. UserError where the code is for another
// processor or of other kernels; ByteError for bytes that aren't such.
CpuProgram::Kernels read_code(std::string_view bytes, const kernel::Plan& plan, Jit& jit);

}  // namespace luminal::backends::cpu
