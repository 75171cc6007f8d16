// Constants of formulas in f64.
#pragma once

#include <limits>
#include <numbers>

namespace luminal::composite {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kPi = std::numbers::pi;

}  // namespace luminal::composite
