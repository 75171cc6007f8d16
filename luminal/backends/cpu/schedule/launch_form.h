// LaunchForm: what launching compiled code needs to know of how it was compiled. It is kept beside
// code that another build may run, which would schedule the same kernel in its own way.
#pragma once

#include <cstdint>

#include "luminal/shape/expr.h"

namespace luminal::backends::cpu {

struct LaunchForm {
  Expr points;                   // of the outer loops together
  Expr scratch_bytes;            // per thread
  int64_t grain = 1;             // ranges of points start at multiples of this
  bool tiled = false;            // a point is a block of a matrix product
  bool copies_rows = false;      // all rows, as it starts
  bool aligned_outputs = false;  // outputs must start at a multiple of 64 bytes
  bool looks_at_rows = false;    // it marks indices outside of their dim, see gathered_rows.h
};

}  // namespace luminal::backends::cpu
