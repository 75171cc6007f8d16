#include "luminal/base/text/wrapped_text.h"

#include <algorithm>
#include <sstream>

namespace luminal::base {
namespace {

size_t n_characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string wrapped_text(std::string_view text, size_t indent, size_t columns) {
  const std::string margin(indent, ' ');
  std::string out;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (!out.empty()) out += "\n" + margin;
    std::istringstream words(line);
    size_t column = indent;
    for (std::string word; words >> word;) {
      const size_t length = n_characters(word);
      if (column > indent && column + 1 + length > columns) {
        out += "\n" + margin;
        column = indent;
      } else if (column > indent) {
        out += ' ';
        ++column;
      }
      out += word;
      column += length;
    }
  }
  return out;
}

}  // namespace luminal::base
