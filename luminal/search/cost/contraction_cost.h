// The cost of a GEMM besides memory traffic: its multiply-adds, and the packing and conversion that
// they need.
#pragma once

#include "luminal/kernel/recognise/contraction_form.h"
#include "luminal/search/cost/cost_model.h"
#include "luminal/search/cost/expr_value.h"

namespace luminal::search {

// Seconds of all outer points, on all threads; what takes none is 0.
struct ContractionSeconds {
  double products = 0;
  double arithmetic = 0;
  double reordered = 0;  // weights that are repacked in every run
  double widened = 0;    // weights that become f32 in every run
  double computed = 0;   // rows of the prologue
  double sums = 0;       // accumulators: begun and written; not counted by the uncalibrated model
};
ContractionSeconds contraction_seconds(const kernel::Kernel& kernel,
                                       const kernel::ContractionForm& form,
                                       const MachineModel& machine, const Bindings& sizes);

// Weights that two GEMMs of a kernel read in different orders, as the halves of a rotary embedding
// do, are in memory twice: the bytes of one copy are counted with the kernel's, those of the others
// here.
double repeated_bytes(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                      const Bindings& sizes);

// Elements that are read at addresses which don't grow evenly along k, as by a convolution; each as
// often as products need it.
double windowed_elements(const kernel::Kernel& kernel, const kernel::ContractionForm& form,
                         const Bindings& sizes);

}  // namespace luminal::search
