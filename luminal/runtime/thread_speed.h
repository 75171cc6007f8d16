// Rough throughput of one thread per microsecond: enough to tell small launches from large ones.
#pragma once

namespace luminal::runtime {

struct ThreadSpeed {
  double bytes = 13e3;      // of memory
  double ops = 8e3;         // of element-wise work
  double products = 150e3;  // peak flops of matrix products
};

}  // namespace luminal::runtime
