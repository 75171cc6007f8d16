// ByteCount: bytes used by constants and containers, with a limit.
#pragma once

#include "luminal/base/errors.h"
#include "luminal/base/visibility.h"

#include <cstdint>
#include <limits>

namespace luminal::egraph {

// Thrown when a computation would exceed a byte limit. A run stops with this as its reason; a
// command outside of a run fails.
class LUMINAL_API ByteLimitReached : public UserError {
 public:
  using UserError::UserError;
};

// The limit of a run that sets none: what one small program may use.
constexpr uint64_t kMostConstantBytes = uint64_t{384} << 20;

struct ByteCount {
  uint64_t used = 0;
  uint64_t most = std::numeric_limits<uint64_t>::max();

  // Throws if `more` bytes would exceed the limit.
  void expect(uint64_t more) const;
  void add(uint64_t more) {
    expect(more);
    used += more;
  }
};

}  // namespace luminal::egraph
