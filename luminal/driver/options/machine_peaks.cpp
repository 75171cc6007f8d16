#include "luminal/driver/options/machine_peaks.h"

#include <algorithm>

#include "luminal/base/os/limits.h"

namespace luminal {

machine::Peaks machine_peaks(const StorageOptions& storage, const std::string& target) {
  const auto threads = static_cast<int>(base::usable_threads());
  const std::string_view here = machine::instruction_set_here();
  const bool assumed = storage.cache_folder == "none" && storage.machine.empty();
  machine::Peaks peaks = assumed ? machine::default_peaks(here, threads)
                                 : machine::peaks_of_this_machine(storage.machine);
  const std::string_view used = machine::instruction_set_of(target);
  const bool is_given = peaks.origin == machine::PeaksOrigin::Given;
  return used != here && !is_given ? machine::limited_to(std::move(peaks), used) : peaks;
}

std::string machine_text(const machine::Peaks& peaks) {
  const bool assumed = peaks.origin == machine::PeaksOrigin::Default;
  return text(peaks) + (assumed ? "; `luminal doctor --measure` measures this machine" : "");
}

namespace {

// Share of the peak that kernels of few elements reach: most of their time is loop prologues and
// epilogues.
constexpr double kOpsOfSmallKernels = 0.1;
// How many times faster than memory a thread reads what it has just written.
constexpr double kNearSpeed = 8;
// What a step costs besides its launch. Without it SmolLM2's plans stay the same, and a model of
// 260 thousand weights takes 12 % longer.
constexpr double kStepSeconds = 1e-6;
// Graphs of so little data: it is still in the first caches when the next step begins, and kernels
// run on one thread, without a barrier.
constexpr double kTinyBytes = 64 << 10;
constexpr double kTinyStepSeconds = 0.5e-6;

}  // namespace

runtime::ThreadSpeed thread_speed(const machine::Peaks& peaks) {
  const double per_microsecond = 1e-6 / peaks.threads;
  return {.bytes = peaks.read_bytes(1) * 1e-6,
          .ops = kOpsOfSmallKernels * peaks.elementwise * per_microsecond,
          .products = std::max(peaks.f32_products, peaks.bf16_products) * per_microsecond};
}

search::DataIn data_in(const machine::Peaks& peaks, double working_set) {
  const uint64_t l2 = peaks.l2 * static_cast<uint64_t>(peaks.threads);
  if (machine::holds(l2, working_set)) return search::DataIn::L2;
  return machine::holds(peaks.l3, working_set) ? search::DataIn::L3 : search::DataIn::Memory;
}

search::MachineModel machine_model(const machine::Peaks& peaks, double working_set) {
  constexpr double kAnything = std::numeric_limits<double>::infinity();
  const bool tiny = working_set <= kTinyBytes;
  const double bytes = peaks.bytes_again(working_set);
  const search::DataIn place = data_in(peaks, working_set);
  const runtime::ThreadSpeed alone = thread_speed(peaks);
  return {.bytes_per_second = bytes,
          .near_bytes_per_second = kNearSpeed * peaks.bytes_again(kAnything),
          .streamed_bytes_per_second = place == search::DataIn::L2 ? bytes : peaks.write_bytes(),
          .flops_per_second = peaks.elementwise,
          .product_flops_per_second = peaks.f32_products,
          .exact_product_flops_per_second = peaks.bf16_products,
          .launch_seconds = peaks.launch_seconds + (tiny ? 0 : peaks.barrier_seconds),
          .step_seconds = tiny ? kTinyStepSeconds : kStepSeconds,
          .threads = peaks.threads,
          .data_in = place,
          .alone_bytes_per_second = alone.bytes * 1e6,
          .alone_flops_per_second = alone.ops * 1e6};
}

}  // namespace luminal
