// Turns: one thread at a time, which waits without the GIL.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "binding/casters.h"
#include "luminal/base/errors.h"

namespace luminal::python {

class Turns {
 public:
  // Does the work alone, without the GIL. UserError on the thread that is at it already: from a
  // callback of its own.
  template <typename Work>
  auto take(const Work& work) {
    if (owner_.load() == std::this_thread::get_id()) {
      throw UserError("it is at work: call it again when that is done, not from a callback of it");
    }
    nb::gil_scoped_release released;
    const std::scoped_lock alone(mutex_);
    struct Owned {
      std::atomic<std::thread::id>& owner;
      ~Owned() { owner = std::thread::id(); }
    } owned{owner_};
    owner_ = std::this_thread::get_id();
    return work();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_ = {};
};

}  // namespace luminal::python
