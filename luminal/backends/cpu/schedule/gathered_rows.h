// Indices that are data: which of them are known to lie inside of their dim before a kernel runs.
#pragma once

#include "luminal/kernel/ir/kernel.h"

namespace luminal::backends::cpu {

// Whether every value of an instruction is known to be one of 0 … extent − 1.
bool is_known_row(const kernel::Stage& stage, kernel::InstId value, Expr extent);

// Whether the kernel has indices of which that isn't known: it looks at them as it runs.
bool looks_at_rows(const kernel::Kernel& kernel);

// Where a kernel leaves a mark when it met an index outside of its dim, in bytes from the start of
// its scratch memory. The next word is for the marks of those inside.
inline constexpr int kStrayRowMark = 0;

}  // namespace luminal::backends::cpu
