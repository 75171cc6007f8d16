#include "apps/cli/terminal/message_reader.h"

#include <string_view>

namespace luminal::cli {
namespace {

constexpr std::string_view kFence = "\"\"\"";

}  // namespace

ReadLine MessageReader::read() {
  ReadLine message = lines_.read(false);
  if (message.state != ReadLine::State::Line) return message;
  if (!message.text.starts_with(kFence)) {
    lines_.remember(message.text);
    return message;
  }
  std::string typed = message.text;  // with the fences, so that it can be recalled and edited
  std::string text = message.text.substr(kFence.size());
  while (!text.ends_with(kFence)) {
    const ReadLine line = lines_.read(true);
    if (line.state == ReadLine::State::Interrupted) return line;
    if (line.state == ReadLine::State::End) {
      text += kFence;
      break;
    }
    typed += "\n" + line.text;
    text += "\n" + line.text;
  }
  lines_.remember(typed);
  text.resize(text.size() - kFence.size());
  // A fence on a line of its own is not part of the text.
  if (text.starts_with('\n')) text.erase(0, 1);
  if (text.ends_with('\n')) text.pop_back();
  return {.state = ReadLine::State::Line, .text = text};
}

}  // namespace luminal::cli
