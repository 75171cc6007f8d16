#include "luminal/driver/measure/cache_eviction.h"

namespace luminal {

// Writing a byte of every cache line loads the line and evicts another.
void CacheEviction::run() {
  if (!buffer_) return;
  constexpr size_t kLine = 64;
  volatile std::byte* bytes = buffer_->bytes().data();
  for (size_t at = 0; at < buffer_->size(); at += kLine) bytes[at] = std::byte{1};
}

}  // namespace luminal
