// Arena: the working memory of a run; it grows past its largest size so far and never shrinks.
#pragma once

#include <cstddef>

#include "luminal/runtime/buffer.h"

namespace luminal::runtime {

class Arena {
 public:
  // The start of at least `bytes`, aligned as buffers are. What was there before may be lost.
  std::byte* reserve(size_t bytes) {
    if (!memory_.valid() || memory_.size() < bytes) {
      memory_ = {};  // first, so that old and new are never held together
      memory_ = Buffer::allocate(bytes);
    }
    return memory_.writable().data();
  }
  size_t size() const { return memory_.size(); }

 private:
  Buffer memory_;
};

}  // namespace luminal::runtime
