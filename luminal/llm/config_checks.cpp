#include "luminal/llm/config_checks.h"

#include <fmt/format.h>

#include "luminal/base/errors.h"

namespace luminal::llm {

void ConfigChecks::fail(const std::string& message) const {
  throw UserError(fmt::format("{}: {}", model_, message));
}

void ConfigChecks::size(const char* what, int64_t value, int64_t most) const {
  if (value >= 1 && value <= most) return;
  fail(fmt::format("{} is {}; it must be from 1 to {}", what, value, most));
}

void ConfigChecks::positive(const char* what, double value) const {
  if (value > 0 && value < 1e12) return;
  fail(fmt::format("{} is {}; it must be positive", what, value));
}

}  // namespace luminal::llm
