// Threads beyond what std::thread offers: stack size, blocked signals, the current core.
#pragma once

#include <cstddef>
#include <functional>

namespace luminal::base {

// Runs `function` on a thread whose stack has at least `bytes` bytes, waits for it, and rethrows
// what it threw. For recursion whose depth follows the user's graph. DeviceError when the thread
// can't start.
void run_with_stack(size_t bytes, const std::function<void()>& function);

// Starts a detached thread with all signals blocked, so that they go to the program's own threads.
// False if the system can't start another thread.
bool start_helper_thread(std::function<void()> function);

// Binds the calling thread to one of the cores that it may run on: the one at `position`, counted
// around. False if the system doesn't allow that.
bool pin_to_core(int position);

// The core that the calling thread runs on at this moment; -1 if unknown.
int current_core();

}  // namespace luminal::base
