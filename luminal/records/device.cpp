#include "luminal/records/device.h"

#include <fmt/format.h>

#include "luminal/base/digest.h"
#include "luminal/base/os_cpu.h"

namespace luminal::records {
namespace {

// What all descriptions of one kind of processor begin with. Caches are part of it: processors
// of one name in virtual machines differ in them.
std::string processor_text() {
  const base::CpuInfo& cpu = base::cpu_info();
  std::string features;
  for (std::string_view name : base::feature_names(cpu.features)) {
    features += fmt::format("{}{}", features.empty() ? "" : " ", name);
  }
  return fmt::format("{}; caches of {}, {}, {} bytes; {}; ", cpu.name, cpu.caches.l1_data,
                     cpu.caches.l2, cpu.caches.l3, features);
}

}  // namespace

Device this_device(std::string_view target, int threads) {
  std::string description =
      fmt::format("{}target {}; {} thread{}", processor_text(), target.empty() ? "best" : target,
                  threads, threads == 1 ? "" : "s");
  std::string fingerprint = base::digest(description);
  return {.fingerprint = std::move(fingerprint), .description = std::move(description)};
}

bool is_this_processor(const Device& device) {
  return device.description.starts_with(processor_text());
}

}  // namespace luminal::records
