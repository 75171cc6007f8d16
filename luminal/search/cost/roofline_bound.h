// Lower bounds of a kernel's time, part by part: the roofline that its time is compared with.
#pragma once

#include "luminal/search/cost/cost_model.h"

namespace luminal::search {

// Each part by itself, at peak on all threads: tensors read and written once, arithmetic at the
// rate of its kind, and the launch.
struct RooflineBound {
  LeastWork work;
  double bytes_seconds = 0;
  double flops_seconds = 0;
  double launch_seconds = 0;
};

RooflineBound roofline_bound(const kernel::Kernel& kernel, const MachineModel& machine,
                             const Bindings& sizes);

}  // namespace luminal::search
