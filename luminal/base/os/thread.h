// Threads beyond what std::thread offers: a stack of a chosen size, no signals, the core it runs
// on.
#pragma once

#include <cstddef>
#include <functional>

namespace luminal::base {

// Runs `function` on a thread whose stack has at least `bytes` bytes, waits for it, and rethrows
// what it threw. For recursion whose depth follows the user's graph. DeviceError when the thread
// can't start.
void run_with_stack(size_t bytes, const std::function<void()>& function);

// Starts a thread that runs until the process ends and gets no signals: those are for the program's
// own threads. False when the system has no thread left.
bool start_helper_thread(std::function<void()> function);

// The core that the calling thread runs on at this moment; -1 where the system doesn't say.
int current_core();

}  // namespace luminal::base
