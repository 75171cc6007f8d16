// The process-wide thread pool for launches, shared by all executables and their callers.
#pragma once

#include <type_traits>

namespace luminal::runtime {

// A non-owning reference to a function of a share's number, which must not throw.
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

// The maximum number of shares of one call.
inline constexpr int kMostShares = 0x7fff;

// A parallel for: calls function(0) … function(shares - 1), each once, and returns when all have
// ended. The caller runs the first share, then any that no helper has claimed, so a helper that
// gets no core delays nobody. May be called concurrently and from inside a share. Allocates nothing
// once the helpers have started. `us` is a rough estimate of all shares' time on one thread.
void run_shares(int shares, double us, ShareFunction function);

// From now on each helper stays on a core of its own, of those that the process may use, leaving
// the first to callers. Of the whole process; there is no way back.
void pin_helpers();

// Number of helpers started so far: at most one less than the threads this process may use.
int helper_threads();

}  // namespace luminal::runtime
