// What a matrix product takes, beside reading and writing its tensors: products, and all that has
// to be put in order for them.
#pragma once

#include "luminal/kernel/recognise/contraction_form.h"
#include "luminal/search/cost/cost_model.h"

namespace luminal::search {

// An expression at these sizes. What is too large for 64 bits is too slow to matter how much.
inline double value(Expr expr, const Bindings& sizes) {
  return static_cast<double>(expr.evaluate(sizes).value.value_or(INT64_MAX));
}

// Of the outer points together, on all threads.
double contraction_seconds(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                           const MachineModel& machine, const Bindings& sizes);

// Weights that two products of a kernel read in different orders, as a rotation's halves do, lie in
// memory twice: one copy's bytes are counted with the kernel's, the others here.
double repeated_bytes(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                      const Bindings& sizes);

}  // namespace luminal::search
