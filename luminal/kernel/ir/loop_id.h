// LoopId: a loop of a kernel. Expressions name loops by number; the conversions are here.
#pragma once

#include "luminal/base/ids.h"
#include "luminal/shape/expr.h"

namespace luminal::kernel {

struct LoopTag;
using LoopId = Id<LoopTag>;  // a position in Kernel::loops

// The position along a loop of this extent.
inline Expr index_of(LoopId loop, Expr extent) {
  return Expr::index(static_cast<int>(loop.value), extent);
}
// The loop along which an expression of kind Index is the position.
inline LoopId loop_of(Expr index) { return LoopId::at(index.axis()); }
inline bool uses_loop(Expr expr, LoopId loop) {
  return expr.uses_index(static_cast<int>(loop.value));
}

}  // namespace luminal::kernel
