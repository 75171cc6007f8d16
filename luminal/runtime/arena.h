// Arena: the working memory of a run. It grows when a run needs more, and never shrinks.
#pragma once

#include <cstddef>

#include "luminal/runtime/buffer.h"

namespace luminal::runtime {

class Arena {
 public:
  // Returns at least `bytes` of memory, aligned as buffers are. Its previous content may be lost.
  std::byte* reserve(size_t bytes) {
    if (!memory_.valid() || memory_.size() < bytes) {
      memory_ = {};  // freed first, so that old and new never exist together
      memory_ = Buffer::allocate(bytes);
    }
    return memory_.writable().data();
  }
  size_t size() const { return memory_.size(); }

 private:
  Buffer memory_;
};

}  // namespace luminal::runtime
