// The text of a kernel, read back: what tests and people write kernels in. text() in kernel.h
// prints it.
//
//   kernel
//   var s 1 4096
//   param p0 in f32[s, 64]
//   param p1 out f32[s]
//   loop i0 s outer
//   loop i1 64
//   stage s0 f32 sum over i1
//     %0 = load p0[i0, i1] : f32
//     store p1[i0] %0
#pragma once

#include <string_view>

#include "luminal/base/text/line_reader.h"
#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

// The kernel that begins with the next line and ends before one that isn't a kernel's. UserError
// with line and way out for text that isn't one; whether it makes sense is verify_kernel's
// question. Its work is not filled in: see recognise/work.h.
Kernel parse_kernel(base::TextLines& lines);
// A text that holds nothing else.
Kernel parse_kernel(std::string_view text, std::string_view source = "kernel");

// "f32" of a line. UserError for what isn't a dtype.
DType parse_dtype(base::LineReader& line);

}  // namespace luminal::kernel
