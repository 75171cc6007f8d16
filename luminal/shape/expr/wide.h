// 128-bit integers, for bounds and values where 64 bits may overflow.
#pragma once

namespace luminal::shape {

using Wide = __int128;

// ⌊a / b⌋, of any signs.
inline Wide floor_divide(Wide a, Wide b) {
  const Wide q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

}  // namespace luminal::shape
