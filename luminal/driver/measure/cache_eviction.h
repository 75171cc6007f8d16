// CacheEviction: evicts what a run left in the caches, so that the next run reads its weights from
// memory, as it would after all the other layers of the model.
#pragma once

#include <cstddef>
#include <optional>

#include "luminal/base/os/memory.h"

namespace luminal {

class CacheEviction {
 public:
  CacheEviction() = default;  // does nothing
  explicit CacheEviction(size_t bytes) : buffer_(std::in_place, bytes) {}
  bool evicts() const { return buffer_.has_value(); }
  void run();

 private:
  std::optional<base::LargeBuffer> buffer_;
};

}  // namespace luminal
