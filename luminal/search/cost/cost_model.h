// The roofline: what a kernel takes at least, by bytes, flops and launch, on a described machine;
// and the cost model: what it takes by what kernels reach of that machine's peaks.
#pragma once

#include <algorithm>

#include "luminal/kernel/lower/stage.h"

namespace luminal::search {

// What a machine does at most, on all its threads (machine/peaks.h). A compile fills it in; the
// figures here describe a machine for tests: two threads, AVX-512 and AMX.
struct MachineModel {
  double bytes_per_second = 33e9;
  double flops_per_second = 150e9;  // of element-wise work
  // Of matrix products, a product with its sum counting two: f32, and bf16 by bf16.
  double product_flops_per_second = 300e9;
  double exact_product_flops_per_second = 3600e9;
  double launch_seconds = 1e-6;
  int threads = 2;

  // Of f32 by bf16, or by integers that are bf16: as up to three products of bf16 where those are
  // fast.
  double half_product_flops_per_second() const {
    return std::max(product_flops_per_second, exact_product_flops_per_second / 3);
  }
};

// Variables take the values of `sizes`; those it doesn't name, one between their bounds.
Bindings representative_sizes(const std::vector<Expr>& variables, const Bindings& sizes);

// What kernels reach of a machine's peaks.
MachineModel reached(const MachineModel& peaks);

// By what kernels reach. A scatter copies the tensor that it updates; of a lowered kernel not where
// that is a state.
double seconds(const kernel::Kernel& kernel, const MachineModel& machine, const Bindings& sizes);
double seconds(const kernel::LoweredKernel& lowered, const MachineModel& machine,
               const Bindings& sizes);

// What a kernel can't do without: not the rows of a tensor that it updates in place and leaves as
// they are, nor the keys that a mask hides from attention.
struct LeastWork {
  double bytes = 0;
  // Matrix products with their sums, which run faster than other arithmetic; those of bf16 or
  // integers faster still.
  double products = 0;
  double exact_products = 0;
  double other_flops = 0;

  double flops() const { return 2 * (products + exact_products) + other_flops; }
};
LeastWork least_work(const kernel::Kernel& kernel, const Bindings& sizes);
// Its arithmetic alone, at the machine's full speed on all threads.
double flops_seconds(const LeastWork& work, const MachineModel& machine);

}  // namespace luminal::search
