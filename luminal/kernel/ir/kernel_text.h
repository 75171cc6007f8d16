// Parses the text format of kernels, in which tests and people write them; text() in kernel.h
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

// Parses the kernel that starts at the next line and ends before the first line that isn't part of
// one. UserError, with line and way out, for malformed text; semantics are checked by
// verify_kernel. Bytes and flops aren't filled in: see recognise/work.h.
Kernel parse_kernel(base::TextLines& lines);
// Parses text that holds one kernel and nothing else.
Kernel parse_kernel(std::string_view text, std::string_view source = "kernel");

}  // namespace luminal::kernel
