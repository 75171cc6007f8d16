#include "luminal/egraph/byte_limit.h"

#include <string>

namespace luminal::egraph {

void ByteCount::expect(uint64_t more) const {
  if (used <= most && more <= most - used) return;
  throw ByteLimitReached("strings, numbers and containers take more than " + std::to_string(most) +
                         " bytes; raise the limit of bytes if the program is meant to");
}

}  // namespace luminal::egraph
