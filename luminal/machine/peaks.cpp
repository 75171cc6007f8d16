#include "luminal/machine/peaks.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/base/check.h"

namespace luminal::machine {
namespace {

// Interpolates the bandwidth linearly between measured numbers of threads.
double at(const std::vector<Bandwidth>& memory, int threads, double Bandwidth::* what) {
  LUMINAL_CHECK(!memory.empty(), "the peaks have no bandwidth");
  const auto above = std::ranges::find_if(
      memory, [&](const Bandwidth& bandwidth) { return bandwidth.threads >= threads; });
  if (above == memory.end()) return memory.back().*what;
  if (above == memory.begin() || above->threads == threads) return (*above).*what;
  const Bandwidth& below = *(above - 1);
  const double share = static_cast<double>(threads - below.threads) /
                       static_cast<double>(above->threads - below.threads);
  return below.*what + share * ((*above).*what - below.*what);
}

std::string origin_text(const Peaks& peaks) {
  switch (peaks.origin) {
    case PeaksOrigin::Default:
      return fmt::format("default figures for {}", peaks.source);
    case PeaksOrigin::Measured:
      return fmt::format("measured {}", peaks.source);
    case PeaksOrigin::Given:
      break;
  }
  return fmt::format("given by {}", peaks.source);
}

}  // namespace

double Peaks::read_bytes(int of_threads) const { return at(memory, of_threads, &Bandwidth::read); }
double Peaks::copy_bytes(int of_threads) const { return at(memory, of_threads, &Bandwidth::copy); }

double Peaks::write_bytes() const {
  const double read = read_bytes(threads), copy = copy_bytes(threads);
  const double seconds = 2 / copy - 1 / read;
  return seconds > 0 ? std::min(1 / seconds, read) : read;
}

double Peaks::bytes_again(double working_set) const {
  const double of_memory = std::max(read_bytes(threads), copy_bytes(threads));
  const double of_l3 = std::max(of_memory, l3_bytes);
  if (holds(l2 * static_cast<uint64_t>(threads), working_set)) return std::max(of_l3, l2_bytes);
  return holds(l3, working_set) ? of_l3 : of_memory;
}

bool holds(uint64_t cache, double working_set) {
  return working_set <= 0.75 * static_cast<double>(cache);
}

std::string text(const Peaks& peaks) {
  const bool knows_caches = peaks.l2_bytes > 0 && peaks.l3_bytes > 0;
  const std::string caches =
      knows_caches ? fmt::format(" ({:.0f} from L2, {:.0f} from L3)", peaks.bytes_again(0) * 1e-9,
                                 peaks.bytes_again(static_cast<double>(peaks.l3) / 2) * 1e-9)
                   : "";
  return fmt::format(
      "{}: on {} thread{} reads {:.1f} and copies {:.1f} GB/s{}, computes {:.0f} GF/s "
      "element-wise; "
      "products: f32 {:.0f}, bf16 {:.0f}, int8 {:.0f} GF/s; launch {:.1f} µs, barrier {:.1f} µs",
      origin_text(peaks), peaks.threads, peaks.threads == 1 ? "" : "s",
      peaks.read_bytes(peaks.threads) * 1e-9, peaks.copy_bytes(peaks.threads) * 1e-9, caches,
      peaks.elementwise * 1e-9, peaks.f32_products * 1e-9, peaks.bf16_products * 1e-9,
      peaks.i8_products * 1e-9, peaks.launch_seconds * 1e6, peaks.barrier_seconds * 1e6);
}

}  // namespace luminal::machine
