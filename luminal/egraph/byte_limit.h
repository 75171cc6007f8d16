// ByteCount: bytes that constants and containers take, with a limit on them.
#pragma once

#include "luminal/base/errors.h"
#include "luminal/base/visibility.h"

#include <cstdint>
#include <limits>

namespace luminal::egraph {

// A limit of bytes was reached while something was computed. A run ends with it as its reason; a
// command outside of a run fails.
class LUMINAL_API ByteLimitReached : public UserError {
 public:
  using UserError::UserError;
};

// Of a run that has no limit of its own: what one small program may take.
constexpr uint64_t kMostConstantBytes = uint64_t{384} << 20;

struct ByteCount {
  uint64_t used = 0;
  uint64_t most = std::numeric_limits<uint64_t>::max();

  // Throws if this many more are too many.
  void expect(uint64_t more) const;
  void add(uint64_t more) {
    expect(more);
    used += more;
  }
};

}  // namespace luminal::egraph
