// Sleeping until a number changes, and waking who sleeps.
#pragma once

#include <atomic>
#include <cstdint>

namespace luminal::base {

// Returns when woken, or at once if `word` isn't `value` (any more). It may return for no reason.
void futex_wait(std::atomic<uint32_t>& word, uint32_t value);

// Wakes up to `count` threads that sleep on `word`.
void futex_wake(std::atomic<uint32_t>& word, int count);

}  // namespace luminal::base
