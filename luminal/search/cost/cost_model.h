// The roofline, a lower bound of a kernel's time by bytes, flops and launch on a described machine;
// and the cost model, which uses the rates that kernels reach of that machine's peaks.
#pragma once

#include <algorithm>
#include <memory>

#include "luminal/kernel/lower/stage.h"
#include "luminal/search/cost/calibration.h"

namespace luminal::search {

// What holds the data of a graph from run to run.
enum class DataIn : uint8_t { Memory, L3, L2 };

// Peak rates of a machine on all its threads (machine/peaks.h). A compile fills it in; the figures
// here describe a machine for tests: two threads, AVX-512 and AMX.
struct MachineModel {
  double bytes_per_second = 33e9;  // of memory, or of the cache that holds all of a graph's data
  double near_bytes_per_second = 264e9;  // of what the same thread has just written
  // Of large outputs, which are written past the caches.
  double streamed_bytes_per_second = 33e9;
  double flops_per_second = 150e9;  // of element-wise work
  // Of GEMMs, counting two flops per multiply-add: f32, and bf16 by bf16.
  double product_flops_per_second = 300e9;
  double exact_product_flops_per_second = 3600e9;
  double launch_seconds = 1e-6;
  // Of a step besides its launch: caches hold the code and data of the step before, not its own.
  double step_seconds = 1e-6;
  int threads = 2;
  DataIn data_in = DataIn::Memory;  // whose bandwidth bytes_per_second is
  // Launches that take one thread at most so long, at these rates, aren't shared among threads.
  double most_seconds_alone = 8e-6;
  double alone_bytes_per_second = 16e9;
  double alone_flops_per_second = 7.5e9;
  std::shared_ptr<const Calibration> calibration = nullptr;  // of this machine, if there is one

  // Of f32 by bf16, or by integers that are exact in bf16: f32 is split into up to three bf16 where
  // their products are fast.
  double half_product_flops_per_second() const {
    return std::max(product_flops_per_second, exact_product_flops_per_second / 3);
  }
};

// Variables take the values of `sizes`; those it doesn't name, 128 clamped to their bounds.
Bindings representative_sizes(const std::vector<Expr>& variables, const Bindings& sizes);

// The rates that kernels reach of a machine's peaks.
MachineModel reached(const MachineModel& peaks);

// What a calibration is fitted to; as if nothing was calibrated.
CostParts cost_parts(const kernel::Kernel& kernel, const MachineModel& machine,
                     const Bindings& sizes);

// By the rates that kernels reach, and the calibration if there is one. A scatter copies the tensor
// that it updates; a lowered one doesn't if that is a state.
double seconds(const kernel::Kernel& kernel, const MachineModel& machine, const Bindings& sizes);
double seconds(const kernel::LoweredKernel& lowered, const MachineModel& machine,
               const Bindings& sizes);

// The least work of a kernel: without the rows that an in-place update leaves as they are, and
// without the keys that a mask hides from attention.
struct LeastWork {
  double bytes = 0;
  // Multiply-adds of matrix products, which run faster than other arithmetic; those of bf16 or
  // integers faster still.
  double products = 0;
  double exact_products = 0;
  double other_flops = 0;

  double flops() const { return 2 * (products + exact_products) + other_flops; }
};
LeastWork least_work(const kernel::Kernel& kernel, const Bindings& sizes);
// The time of its arithmetic alone, at the machine's peak on all threads.
double flops_seconds(const LeastWork& work, const MachineModel& machine);

}  // namespace luminal::search
