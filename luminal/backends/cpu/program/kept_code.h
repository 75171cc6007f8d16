// Kept code: the compiled kernels of a plan as bytes, so that another process or a later build can
// run exactly the same machine code.
#pragma once

#include <string>
#include <string_view>

#include "luminal/backends/cpu/program/cpu_program.h"

namespace luminal::backends::cpu {

// `kernels` must have been compiled with Jit::Options::keep_objects, none of them by a library.
std::string write_code(const CpuProgram::Kernels& kernels, const Target& target);

// Reads the kernels of `plan` from what write_code wrote. UserError if the code is for another
// processor or other kernels; ByteError if the bytes are malformed.
CpuProgram::Kernels read_code(std::string_view bytes, const kernel::Plan& plan, Jit& jit);

}  // namespace luminal::backends::cpu
