// The cost of a GEMM besides memory traffic: its multiply-adds, and the packing and conversion that
// they need.
#pragma once

#include "luminal/kernel/recognise/contraction_form.h"
#include "luminal/search/cost/cost_model.h"

namespace luminal::search {

// An expression at these sizes. Saturates at INT64_MAX; such a candidate loses anyway.
inline double value(Expr expr, const Bindings& sizes) {
  return static_cast<double>(expr.evaluate(sizes).value.value_or(INT64_MAX));
}

// Seconds of all outer points, on all threads.
double contraction_seconds(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                           const MachineModel& machine, const Bindings& sizes);

// Weights that two GEMMs of a kernel read in different orders, as the halves of a rotary embedding
// do, are in memory twice: the bytes of one copy are counted with the kernel's, those of the others
// here.
double repeated_bytes(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                      const Bindings& sizes);

}  // namespace luminal::search
