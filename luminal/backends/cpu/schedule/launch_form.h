// LaunchForm: what a launch must know about how the code was compiled. It is stored with the code,
// since another build that loads it might schedule the same kernel differently.
#pragma once

#include <cstdint>

#include "luminal/shape/expr.h"

namespace luminal::backends::cpu {

struct LaunchForm {
  Expr points;                   // number of iterations of all outer loops together
  Expr scratch_bytes;            // per thread
  int64_t grain = 1;             // ranges of points start at multiples of this
  bool tiled = false;            // a point is a block of a matrix product
  bool copies_rows = false;      // each call first copies all rows of its left operand
  bool aligned_outputs = false;  // outputs must start at a multiple of 64 bytes
  bool looks_at_rows = false;    // checks gathered indices, see gathered_rows.h
};

}  // namespace luminal::backends::cpu
