#include "luminal/driver/check/step_fault.h"

#include <fmt/format.h>

#include <algorithm>

#include "luminal/driver/check/elements.h"

namespace luminal {
namespace {

// Vectors have 4 to 64 elements (bytes in 512 bits).
constexpr int64_t kVectors[] = {4, 8, 16, 32, 64};

// Whether [lowest, size) lies in the remainder after the last whole vector of some width.
bool is_rest(int64_t lowest, int64_t size) {
  return std::ranges::any_of(kVectors, [&](int64_t lanes) {
    const int64_t rest = size % lanes;
    return rest != 0 && size > lanes && lowest >= size - rest;
  });
}

}  // namespace

std::string text(const WrongElements& wrong) {
  return fmt::format(
      "first wrong element {}: {:.9g}{}, expected {:.9g}; {} of {} are wrong, the "
      "largest error is {:.3g}",
      position_text(wrong.first, wrong.dims), wrong.found,
      wrong.untouched ? " (never written)" : "", wrong.expected, wrong.count, wrong.of,
      wrong.largest);
}

bool lie_in_tail(const WrongElements& wrong) {
  int64_t elements = 1;
  for (size_t d = 0; d < wrong.dims.size(); ++d) {
    elements *= wrong.dims[d];
    if (is_rest(wrong.lowest[d], wrong.dims[d])) return true;
  }
  return is_rest(static_cast<int64_t>(wrong.first), elements);
}

}  // namespace luminal
