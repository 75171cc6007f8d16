// KernelFeatures: what the time of a kernel without tiles depends on besides bytes and flops, for a
// calibrated cost model.
#pragma once

#include "luminal/kernel/ir/kernel.h"

namespace luminal::search {

struct KernelFeatures {
  bool reduces = false;
  bool looks_up = false;  // rows by index
  // Flops of divisions and roots, and of exp2, log2 and sin: part of Kernel::flops.
  double divisions = 0;
  double transcendentals = 0;
  double of_f16 = 0;  // of these, on f16
  // Counts of elements.
  double converted = 0;  // of 16 bits, loaded or computed
  double strided = 0;  // loaded apart from their neighbours along every loop that vectors run along
  double scattered = 0;  // moved by every such loop, but through a division of its index
  double looked_up = 0;
};

KernelFeatures features_of(const kernel::Kernel& kernel, const Bindings& sizes);

}  // namespace luminal::search
