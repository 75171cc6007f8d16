// MaskedRange: the range of a row that a positional mask leaves visible.
//
// A causal mask sets the scores of keys after a query to −inf, so their weights are 0 and neither a
// maximum nor a sum needs to visit them. Where a kernel shows this, its loops over keys may start
// at the first visible key and end at the last. With query loop i0, key loop i2 and p tokens
// before:
//
//   score = select(i0 + p >= i2, dot, -inf)
//   first = {}, last = {i0 + p, grows with the rows}, decides = true
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

struct MaskedRange {
  Expr mask;                  // true at the visible points
  LoopId mask_loop;           // the inner loop that the mask is written in
  std::vector<LoopId> loops;  // inner loops of one extent, all of which may be restricted
  // An index that depends on outer loops only, and whether it grows with the rows' loop.
  struct Bound {
    Expr index;
    bool grows = false;
  };
  std::vector<Bound> first;  // no visible point is before any of these
  std::vector<Bound> last;   // none is after any of these
  bool decides = false;      // all points in between are visible
};

// Loops must visit at least one point even if a row's range is empty. Infinities and NaN outside of
// the range, which would be multiplied by weights of 0, are ignored.
std::optional<MaskedRange> masked_range(const Kernel& kernel, LoopId rows);

}  // namespace luminal::kernel
