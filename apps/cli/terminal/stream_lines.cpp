#include "apps/cli/terminal/stream_lines.h"

#include <iostream>

namespace luminal::cli {

ReadLine StreamLines::read(bool goes_on) {
  if (typed_) std::cerr << (goes_on ? "… " : "> ") << std::flush;
  ReadLine line;
  if (!std::getline(in_, line.text)) return line;
  if (line.text.ends_with('\r')) line.text.pop_back();
  line.state = ReadLine::State::Line;
  return line;
}

}  // namespace luminal::cli
