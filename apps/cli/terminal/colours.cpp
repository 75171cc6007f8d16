#include "apps/cli/terminal/colours.h"

#include "luminal/base/os/paths.h"
#include "luminal/base/os/terminal.h"

namespace luminal::cli {
namespace {

// https://no-color.org: disabled if set to a non-empty value.
bool colours_wanted() {
  return !base::environment("NO_COLOR") && base::environment("TERM").value_or("dumb") != "dumb";
}

std::string_view code(Style style) {
  switch (style) {
    case Style::Bold:
      return "\x1b[1m";
    case Style::Dim:
      return "\x1b[2m";
    case Style::Red:
      return "\x1b[31m";
    case Style::Green:
      return "\x1b[32m";
    case Style::Yellow:
      return "\x1b[33m";
  }
  return "";
}

}  // namespace

bool output_has_colours() { return base::output_is_terminal() && colours_wanted(); }
bool error_has_colours() { return base::error_is_terminal() && colours_wanted(); }

std::string styled(std::string_view text, Style style, bool coloured) {
  if (!coloured) return std::string(text);
  return std::string(code(style)) + std::string(text) + "\x1b[0m";
}

}  // namespace luminal::cli
