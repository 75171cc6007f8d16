#include "luminal/driver/check/elements.h"

#include <fmt/format.h>

#include <cmath>

#include "luminal/shape/index/position.h"

namespace luminal {

std::string position_text(size_t flat, const std::vector<int64_t>& dims) {
  return fmt::format("[{}]", fmt::join(position_of(static_cast<int64_t>(flat), dims), ", "));
}

double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double d = std::fabs(a - b);
  return std::isnan(d) ? INFINITY : d;
}

}  // namespace luminal
