#include "luminal/records/device.h"

#include <fmt/format.h>

#include "luminal/base/digest.h"
#include "luminal/base/os/cpu.h"

namespace luminal::records {

Device this_device(std::string_view target, int threads) {
  std::string description =
      fmt::format("{}; target {}; {} thread{}", base::processor_text(),
                  target.empty() ? "best" : target, threads, threads == 1 ? "" : "s");
  std::string fingerprint = base::digest(description);
  return {.fingerprint = std::move(fingerprint), .description = std::move(description)};
}

bool is_this_processor(const Device& device) {
  return device.description.starts_with(base::processor_text() + "; ");
}

}  // namespace luminal::records
