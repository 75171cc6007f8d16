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
    check_not_ours();
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
  friend class Turn;
  void check_not_ours() const {
    if (owner_.load() != std::this_thread::get_id()) return;
    throw UserError("it is at work: call it again when that is done, not from a callback of it");
  }

  std::mutex mutex_;
  std::atomic<std::thread::id> owner_ = {};
};

// A turn of work that needs the GIL for a part of it: it is waited for without the GIL, and begins
// and ends with it.
class Turn {
 public:
  explicit Turn(Turns& turns) : turns_(turns) {
    turns.check_not_ours();
    if (!turns.mutex_.try_lock()) {
      nb::gil_scoped_release released;
      turns.mutex_.lock();
    }
    turns.owner_ = std::this_thread::get_id();
  }
  ~Turn() {
    turns_.owner_ = std::thread::id();
    turns_.mutex_.unlock();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Turns& turns_;
};

}  // namespace luminal::python
