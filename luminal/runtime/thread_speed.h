// What one thread does in a microsecond, roughly: enough to tell small launches from large ones.
#pragma once

namespace luminal::runtime {

struct ThreadSpeed {
  double bytes = 13e3;      // of memory
  double ops = 8e3;         // of element-wise work
  double products = 150e3;  // operations of matrix products, at the most
};

}  // namespace luminal::runtime
