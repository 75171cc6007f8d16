#include "luminal/search/cost/roofline_bound.h"

namespace luminal::search {

RooflineBound roofline_bound(const kernel::Kernel& kernel, const MachineModel& machine,
                             const Bindings& sizes) {
  const LeastWork least = least_work(kernel, sizes);
  return {.work = least,
          .bytes_seconds = least.bytes / machine.bytes_per_second,
          .flops_seconds = flops_seconds(least, machine),
          .launch_seconds = machine.launch_seconds};
}

}  // namespace luminal::search
