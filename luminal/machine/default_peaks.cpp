#include <algorithm>
#include <iterator>

#include "luminal/base/check.h"
#include "luminal/base/os/cpu.h"
#include "luminal/machine/peaks.h"

namespace luminal::machine {
namespace {

// Rates of one thread in 10^9 per second, typical of recent servers at 2.5 GHz.
struct Assumed {
  std::string_view instruction_set;
  double read, elementwise, f32, bf16, i8;
};
constexpr Assumed kAssumed[] = {{"amx", 17, 75, 150, 1800, 3600},
                                {"avx512", 13, 75, 150, 150, 235},
                                {"avx2", 13, 37, 75, 75, 75},
                                {"sse2", 13, 18, 18, 18, 18}};
constexpr double kMostRead = 60e9;  // limit for any number of threads
constexpr double kCopyShare = 0.9;  // copy bandwidth relative to reading
constexpr double kL2Bytes = 30e9;   // of a thread, from its second-level cache
constexpr double kL3Share = 1.2;    // bandwidth of the last-level cache relative to memory
constexpr uint64_t kL1 = 32 << 10, kL2 = 1 << 20, kL3 = 32 << 20;

const Assumed& assumed(std::string_view instruction_set) {
  const auto found = std::ranges::find(kAssumed, instruction_set, &Assumed::instruction_set);
  LUMINAL_CHECK(found != std::end(kAssumed), "the instruction set has no default peaks");
  return *found;
}

Bandwidth assumed_bandwidth(double of_one, int threads) {
  const double read = std::min(of_one * 1e9 * threads, kMostRead);
  return {threads, read, read * kCopyShare};
}

}  // namespace

Peaks default_peaks(std::string_view instruction_set, int threads) {
  const Assumed& of = assumed(instruction_set);
  const double rate = 1e9 * threads;
  const base::CpuCaches& caches = base::cpu_info().caches;
  Peaks peaks{.origin = PeaksOrigin::Default,
              .source = std::string(instruction_set),
              .processor = base::cpu_info().name,
              .threads = threads,
              .memory = {assumed_bandwidth(of.read, 1)},
              .elementwise = of.elementwise * rate,
              .f32_products = of.f32 * rate,
              .bf16_products = of.bf16 * rate,
              .i8_products = of.i8 * rate,
              .launch_seconds = 0.5e-6,
              .barrier_seconds = 0.5e-6,
              .l1 = caches.l1_data != 0 ? caches.l1_data : kL1,
              .l2 = caches.l2 != 0 ? caches.l2 : kL2,
              .l3 = caches.l3 != 0 ? caches.l3 : kL3};
  if (threads > 1) peaks.memory.push_back(assumed_bandwidth(of.read, threads));
  peaks.l2_bytes = kL2Bytes * threads;
  peaks.l3_bytes = kL3Share * peaks.memory.back().read;
  return peaks;
}

std::string_view instruction_set_here() {
  const base::CpuFeatures& features = base::cpu_info().features;
  if (features.amx_bf16 && base::may_use_amx()) return "amx";
  if (features.avx512f) return "avx512";
  return features.avx2 && features.fma ? "avx2" : "sse2";
}

std::string_view instruction_set_of(std::string_view target) {
  const auto found = std::ranges::find(kAssumed, target, &Assumed::instruction_set);
  return found != std::end(kAssumed) ? found->instruction_set : instruction_set_here();
}

Peaks limited_to(Peaks peaks, std::string_view instruction_set) {
  const Assumed& here = assumed(instruction_set_here());
  const Assumed& used = assumed(instruction_set);
  if (peaks.origin == PeaksOrigin::Default) peaks.source = instruction_set;
  const auto limit = [](double& rate, double of_used, double of_here) {
    rate *= std::min(1.0, of_used / of_here);
  };
  limit(peaks.elementwise, used.elementwise, here.elementwise);
  limit(peaks.f32_products, used.f32, here.f32);
  limit(peaks.bf16_products, used.bf16, here.bf16);
  limit(peaks.i8_products, used.i8, here.i8);
  return peaks;
}

}  // namespace luminal::machine
