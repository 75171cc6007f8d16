// Threads beyond what std::thread offers: one with a stack of a chosen size.
#pragma once

#include <cstddef>
#include <functional>

namespace luminal::base {

// Runs `function` on a thread whose stack has at least `bytes` bytes, waits for it, and rethrows
// what it threw. For recursion whose depth follows the user's graph. DeviceError when the thread
// can't start.
void run_with_stack(size_t bytes, const std::function<void()>& function);

}  // namespace luminal::base
