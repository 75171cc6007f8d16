#include "luminal/driver/explain/wrapped_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "luminal/base/text/wrapped_text.h"

namespace luminal {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kIndent = 12;

}  // namespace

std::string labelled(std::string_view label, std::string_view text) {
  return fmt::format("  {:<{}}{}\n", label, kIndent - 2, base::wrapped_text(text, kIndent, kWidth));
}

std::string shortened(const std::vector<std::string>& items, size_t most) {
  if (items.size() <= most) return fmt::format("{}", fmt::join(items, ", "));
  return fmt::format("{}, … {}", fmt::join(items.begin(), items.begin() + most - 1, ", "),
                     items.back());
}

std::string signed_us(double us) {
  return fmt::format("{}{:.1f}", us < 0 ? "−" : "+", std::abs(us));
}

}  // namespace luminal
