#include "luminal/io/file/quote.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace luminal::io {

std::string quote(std::string_view name) {
  constexpr size_t kLimit = 200;
  std::string text = "'";
  size_t end = std::min(name.size(), kLimit);
  // Not in the middle of a UTF-8 sequence.
  while (end < name.size() && end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) {
    --end;
  }
  for (char c : name.substr(0, end)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      text += c;
    }
  }
  if (end < name.size()) text += "…";
  return text + "'";
}

bool is_utf8(std::string_view text) {
  // The least code point that needs 1 + n bytes.
  constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i++]);
    if (first < 0x80) continue;
    const size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc0 || first >= 0xf8 || more > text.size() - i) return false;
    uint32_t code = first & (0x3fu >> more);
    for (size_t k = 0; k < more; ++k) {
      const auto next = static_cast<unsigned char>(text[i++]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3fu);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    if (code < kLeast[more] || code > 0x10ffff || surrogate) return false;
  }
  return true;
}

}  // namespace luminal::io
