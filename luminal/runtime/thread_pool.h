// The process's threads for launches: one pool for all executables and all threads that run them.
#pragma once

#include <type_traits>

namespace luminal::runtime {

// A reference to a function of a share's number; the function must not throw.
class ShareFunction {
 public:
  template <class F>
    requires(!std::is_same_v<F, ShareFunction>)
  ShareFunction(const F& function)
      : object_(&function),
        call_([](const void* object, int share) { (*static_cast<const F*>(object))(share); }) {}

  void operator()(int share) const { call_(object_, share); }

 private:
  const void* object_;
  void (*call_)(const void*, int);
};

// The most shares that one call may have.
inline constexpr int kMostShares = 0x7fff;

// Calls function(0) … function(shares - 1), each once, and returns when all have ended. The calling
// thread runs the first, and then each that no helper has begun: a helper that gets no core keeps
// nobody waiting. Threads may call this at the same time, also from inside a share. Allocates
// nothing once the helpers have started. `us` is what all shares take on one thread, roughly.
void run_shares(int shares, double us, ShareFunction function);

// Helpers that have been started: at most one less than the threads this process may use.
int helper_threads();

}  // namespace luminal::runtime
