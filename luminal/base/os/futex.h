// Futexes: sleeping until a number changes, and waking the threads that sleep on it.
#pragma once

#include <atomic>
#include <cstdint>

namespace luminal::base {

// Returns when woken, or at once if `word` isn't `value` (any more). Wakeups may be spurious.
void futex_wait(std::atomic<uint32_t>& word, uint32_t value);

// Wakes up to `count` threads that sleep on `word`.
void futex_wake(std::atomic<uint32_t>& word, int count);

}  // namespace luminal::base
