// Which results are computed once, when weights are set, and kept: see docs/decisions/0024.
#pragma once

#include <cstdint>

#include "luminal/kernel/plan/plan.h"

namespace luminal::kernel {

// A table that reads nothing, such as rotary frequencies, is kept up to this size; larger ones take
// longer to read than to compute.
constexpr int64_t kMostTableBytes = 64 << 10;

// Whether a step that depends on weights and constants alone is worth keeping, by the bytes that it
// reads and writes.
constexpr bool is_worth_folding(int64_t read, int64_t written) {
  return read > 0 ? written <= kMostFoldedGrowth * read : written <= kMostTableBytes;
}

}  // namespace luminal::kernel
