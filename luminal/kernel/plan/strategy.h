// Strategy: the way in which a step computes its kernel. A kernel may have several; the first that
// strategies() lists is the default, and a measured search may take another. They differ in the
// order of sums, so results may differ in rounding.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

enum class Strategy : uint8_t {
  Loops,           // stage by stage, vectorised along one loop
  Matmul,          // GEMM and GEMV: blocks and tiles by micro kernels
  RowBlocks,       // flash-attention blocking: blocks of rows share factors
  SplitAttention,  // flash decoding: ranges of keys in one kernel, combined by a second
  Library,         // a library's routine
};

std::string_view text(Strategy strategy);
std::optional<Strategy> strategy_of(std::string_view text);

// Those that a kernel allows, by its forms (recognise/forms.h), the default first. Whether a
// library has a routine is the backend's to say: Library is never among them.
std::vector<Strategy> strategies(const Kernel& kernel);
Strategy default_strategy(const Kernel& kernel);
bool allows(const Kernel& kernel, Strategy strategy);

}  // namespace luminal::kernel
