#include "luminal/driver/explain/wrapped_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace luminal {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kIndent = 12;

// Characters, not bytes.
size_t width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string labelled(std::string_view label, std::string_view text) {
  std::string lines = fmt::format("  {:<{}}", label, kIndent - 2);
  size_t column = kIndent;
  bool first = true;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    at = end + 1;
    if (!first && column + 1 + width(word) > kWidth) {
      lines += "\n" + std::string(kIndent, ' ');
      column = kIndent;
      first = true;
    }
    if (!first) lines += ' ';
    lines += word;
    column += width(word) + !first;
    first = false;
  }
  return lines + "\n";
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
