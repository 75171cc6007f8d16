#include "apps/cli/help/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "luminal/text/unicode/utf8.h"
#include "luminal/version.h"

namespace luminal::cli {
namespace {

// Escapes text for roff: no macros, no escapes, and hyphens that can be copied.
std::string roff(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char32_t character : tokens::code_points(text)) {
    if (line_begins && (character == '.' || character == '\'')) out += "\\&";
    line_begins = character == '\n';
    if (character == '\\') {
      out += "\\e";
    } else if (character == '-') {
      out += "\\-";
    } else if (character >= 0x80) {
      out += fmt::format("\\[u{:04X}]", static_cast<uint32_t>(character));
    } else {
      out += static_cast<char>(character);
    }
  }
  return out;
}

bool is_program(const CommandPage& page) { return page.name.find(' ') == std::string::npos; }

// "luminal-run"
std::string page_name(const CommandPage& page) {
  std::string name = page.name;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string options(const std::vector<OptionEntry>& entries) {
  std::string text;
  for (const OptionEntry& entry : entries) {
    text += ".TP\n\\fB" + roff(entry.spelt()) + "\\fR\n" + roff(entry.text) + "\n";
  }
  return text;
}

std::string examples(const std::string& footer) {
  if (footer.empty()) return {};
  std::istringstream lines(footer);
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (std::string line; std::getline(lines, line);) {
    if (line == "Examples:") continue;
    text += roff(line) + "\n";
  }
  return text + ".fi\n";
}

// Sections of a command and of its subcommands.
std::string body(const CommandPage& page, const char* heading) {
  std::string text;
  if (!page.positionals.empty()) {
    text += fmt::format("{} ARGUMENTS\n", heading) + options(page.positionals);
  }
  for (const OptionGroup& group : page.groups) {
    std::string title = group.title;
    std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
    text += fmt::format("{} {}\n", heading, roff(title)) + options(group.options);
  }
  return text;
}

std::string commands_of(const CommandPage& page) {
  std::string text;
  for (const CommandPage& command : page.commands) {
    text += ".SH \"" + roff(command.name) + "\"\n" + roff(command.summary) + ".\n.PP\n.B " +
            roff(command.usage) + "\n" + body(command, ".SS");
  }
  return text;
}

std::string listed_commands(const CommandPage& page) {
  std::string text = ".SH COMMANDS\n";
  for (const CommandPage& command : page.commands) {
    text += ".TP\n\\fB" + roff(page_name(command)) + "\\fR(1)\n" + roff(command.summary) + "\n";
  }
  return text;
}

}  // namespace

std::string man_file_name(const CommandPage& page) { return page_name(page) + ".1"; }

std::string man_page(const CommandPage& page) {
  std::string title = page_name(page);
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string text =
      fmt::format(".TH {} 1 \"\" \"luminal {}\" \"Luminal\"\n", roff(title), roff(LUMINAL_VERSION));
  text += ".SH NAME\n" + roff(page_name(page)) + " \\- " + roff(page.summary) + "\n";
  text += ".SH SYNOPSIS\n.B " + roff(page.usage) + "\n";
  text += body(page, ".SH");
  if (!page.commands.empty()) text += is_program(page) ? listed_commands(page) : commands_of(page);
  text += examples(page.footer);
  text +=
      ".SH \"EXIT STATUS\"\n0 for success, 1 where the input or the machine is at fault, 2 for "
      "a wrong command line, 3 for an internal error.\n";
  if (!is_program(page)) text += ".SH \"SEE ALSO\"\n.BR luminal (1)\n";
  return text;
}

}  // namespace luminal::cli
