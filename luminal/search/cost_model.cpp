#include "luminal/search/cost_model.h"

#include <algorithm>

namespace luminal::search {
namespace {

// What is too large for 64 bits is too slow to matter how much.
double value(Expr expr, const Bindings& sizes) {
  return static_cast<double>(expr.evaluate(sizes).value.value_or(INT64_MAX));
}

}  // namespace

Bindings representative_sizes(const std::vector<Expr>& variables, const Bindings& sizes) {
  constexpr int64_t kTypical = 128;
  Bindings result;
  for (Expr variable : variables) {
    const int64_t typical = std::clamp(kTypical, variable.lower_bound(), variable.upper_bound());
    result.set(variable.name(), sizes.find(variable.name()).value_or(typical));
  }
  return result;
}

double seconds(const kernel::Kernel& kernel, const MachineModel& machine, const Bindings& sizes) {
  double points = 1;
  for (int loop = 0; loop < kernel.n_outer; ++loop) {
    points *= value(kernel.loops[static_cast<size_t>(loop)].extent, sizes);
  }
  int entered = 0;
  for (const kernel::Stage& stage : kernel.stages) {
    entered += stage.reduction.has_value() || !stage.loops.empty();
  }
  const double share = std::min(points, static_cast<double>(machine.threads)) / machine.threads;
  const double parallel = std::max(share, 1.0 / machine.threads);
  const double bytes = value(kernel.bytes_read, sizes) + value(kernel.bytes_written, sizes);
  const double memory = bytes / (machine.bytes_per_second * parallel);
  const double compute = value(kernel.flops, sizes) / (machine.flops_per_second * parallel) +
                         points * entered * machine.stage_seconds / (machine.threads * parallel);
  return std::max(memory, compute) + machine.launch_seconds;
}

}  // namespace luminal::search
