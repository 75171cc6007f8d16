// MaskedRange: the part of a row that a mask by position leaves.
//
// Causal attention hides the keys after a query: their scores are −inf, so their weights are 0, and
// neither a greatest score nor a sum needs to look at them. Where that can be seen in a kernel, its
// loops over keys may end at the last one that counts, and start at the first.
#pragma once

#include <optional>
#include <vector>

#include "luminal/kernel/ir/kernel.h"

namespace luminal::kernel {

struct MaskedRange {
  Expr mask;               // holds at the points that count
  int mask_loop = -1;      // the one of the loops that the mask is written in
  std::vector<int> loops;  // inner ones, all of the same extent: they may all keep to the range
  // An index that grows with the rows' loop, or doesn't grow; it depends on no loop but outer ones.
  struct Bound {
    Expr index;
    bool grows = false;
  };
  std::vector<Bound> first;  // what counts is not before any of these
  std::vector<Bound> last;   // nor after any of these
  bool decides = false;      // and all between them does count
};

// A row whose range is empty must still look at one point. Beyond the range, infinities and NaN of
// what is multiplied by weights of 0 are left out too.
std::optional<MaskedRange> masked_range(const Kernel& kernel, int rows);

}  // namespace luminal::kernel
