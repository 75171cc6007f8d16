// Gathered indices (indices that are data): which are known to be in range before a kernel runs.
#pragma once

#include "luminal/kernel/ir/kernel.h"

namespace luminal::backends::cpu {

// Whether all values of an instruction are known to lie in 0 … extent − 1.
bool is_known_row(const kernel::Stage& stage, kernel::InstId value, Expr extent);

// Whether the kernel has indices for which that isn't known, so it checks them at run time.
bool looks_at_rows(const kernel::Kernel& kernel);

// Offset in scratch memory, in bytes, of the flag that a kernel sets when an index is out of range.
// The word after it is a dummy, written instead when all are in range, to avoid a branch.
inline constexpr int kStrayRowMark = 0;

}  // namespace luminal::backends::cpu
