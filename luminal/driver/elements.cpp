#include "luminal/driver/elements.h"

#include <fmt/format.h>

#include <cmath>

namespace luminal {

std::string position_text(size_t flat, const std::vector<int64_t>& dims) {
  std::vector<int64_t> at(dims.size());
  auto rest = static_cast<int64_t>(flat);
  for (size_t axis = dims.size(); axis-- > 0;) {
    at[axis] = rest % dims[axis];
    rest /= dims[axis];
  }
  return fmt::format("[{}]", fmt::join(at, ", "));
}

double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double d = std::fabs(a - b);
  return std::isnan(d) ? INFINITY : d;
}

}  // namespace luminal
