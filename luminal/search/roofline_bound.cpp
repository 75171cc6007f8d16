#include "luminal/search/roofline_bound.h"

#include "luminal/kernel/contraction_form.h"
#include "luminal/kernel/row_block_form.h"
#include "luminal/search/contraction_cost.h"

namespace luminal::search {
namespace {

// Matrix products run faster than other arithmetic, and those of bf16 faster still.
double flops_seconds(const kernel::Kernel& kernel, const MachineModel& machine,
                     const Bindings& sizes) {
  const auto seconds = [&](double products, double exact_products, double others) {
    return 2 * products / machine.product_flops_per_second +
           2 * exact_products / machine.exact_product_flops_per_second +
           others / machine.flops_per_second;
  };
  if (const auto form = kernel::contraction_form(kernel)) {
    const kernel::ContractionWork work = kernel::work_of(kernel, *form);
    return seconds(value(work.products, sizes),
                   value(work.integer_products, sizes) + value(work.exact_products, sizes),
                   value(work.other_flops, sizes));
  }
  if (const auto form = kernel::row_block_form(kernel)) {
    const kernel::RowBlockWork work = kernel::work_of(kernel, *form);
    return seconds(value(work.products, sizes),
                   value(work.half_products, sizes) + value(work.exact_products, sizes),
                   value(work.other_flops, sizes));
  }
  return seconds(0, 0, value(kernel.flops, sizes));
}

}  // namespace

RooflineBound roofline_bound(const kernel::Kernel& kernel, const MachineModel& machine,
                             const Bindings& sizes) {
  const LeastWork least = least_work(kernel, sizes);
  return {.bytes_seconds = least.bytes / machine.bytes_per_second,
          .flops_seconds = flops_seconds(least.kernel, machine, sizes),
          .launch_seconds = machine.launch_seconds};
}

}  // namespace luminal::search
