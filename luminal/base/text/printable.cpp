#include "luminal/base/text/printable.h"

namespace luminal::base {
namespace {

void append_escaped(std::string& out, unsigned char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += "\\x";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

}  // namespace

std::string printable(std::string_view text, size_t most, bool keep_lines) {
  std::string out;
  size_t length = 0;  // of this line, as it was given
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (keep_lines && byte == '\n') {
      out += '\n';
      length = 0;
      continue;
    }
    const bool starts_character = (byte & 0xc0) != 0x80;
    if (length >= most && starts_character) {
      out += "…";
      const size_t end = keep_lines ? text.find('\n', i) : std::string_view::npos;
      if (end == std::string_view::npos) return out;
      i = end - 1;
      length = 0;
      continue;
    }
    ++length;
    // U+0080 … U+009F are control characters too: 0xc2, then a byte of 0x80 … 0x9f.
    const bool second_of_control = byte >= 0x80 && byte < 0xa0 && i > 0 && text[i - 1] == '\xc2';
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f) {
      append_escaped(out, byte);
    } else if (second_of_control) {
      out.pop_back();
      append_escaped(out, byte);
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace luminal::base
