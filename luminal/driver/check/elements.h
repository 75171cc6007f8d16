// Elements of tensors as messages name and compare them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace luminal {

// The position of a flat index: [1, 0, 3].
std::string position_text(size_t flat, const std::vector<int64_t>& dims);

// |a − b|, where equal infinities differ by 0 and NaN against a number by infinity.
double difference(double a, double b);

}  // namespace luminal
