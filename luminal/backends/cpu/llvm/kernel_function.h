// KernelFunction: how compiled code is called.
#pragma once

#include <cstdint>

namespace luminal::backends::cpu {

// Runs outer points begin … end − 1. Params are contiguous tensors aligned to their elements, one
// address each; variables are in the order of Kernel::variables; scratch has scratch_bytes and is
// aligned to 64. An output may share its memory with an input where kernel::may_share says so:
// stages of a point run one after the other, and no point reads what another writes.
using KernelFunction = void (*)(const void* const* params, const int64_t* variables, int64_t begin,
                                int64_t end, void* scratch);

}  // namespace luminal::backends::cpu
