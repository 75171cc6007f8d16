// Whether a result is what was expected, within a tolerance.
#pragma once

#include <optional>
#include <string>

#include "tests/conformance/case_index.h"

namespace luminal::conformance {

// What differs first: dtype, dims, or an element with its index and both values; none if they
// agree. NaN agrees with NaN, an infinity only with itself; zeros agree whatever their sign unless
// `sign_of_zero`; integers and bool are equal or not.
std::optional<std::string> difference(const TensorData& expected, const TensorData& got,
                                      const Tolerance& tolerance, bool sign_of_zero);

}  // namespace luminal::conformance
