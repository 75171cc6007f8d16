#include "apps/cli/help/help_text.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/cli/terminal/colours.h"
#include "luminal/base/os/terminal.h"
#include "luminal/base/text/wrapped_text.h"

namespace luminal::cli {
namespace {

constexpr size_t kIndent = 2, kTextColumn = 26;
constexpr size_t kNarrowest = 50, kWidest = 100, kPiped = 80;

size_t help_columns() {
  const auto columns = static_cast<size_t>(base::terminal_columns());
  return columns == 0 ? kPiped : std::clamp(columns, kNarrowest, kWidest);
}

std::string line_of(const std::string& name, const std::string& text, size_t columns) {
  std::string line = std::string(kIndent, ' ') + name;
  // A name that reaches into the text column gets its own line.
  if (line.size() + 2 > kTextColumn) line += "\n" + std::string(kTextColumn, ' ');
  line.resize(std::max(line.size(), kTextColumn), ' ');
  return line + base::wrapped_text(text, kTextColumn, columns) + "\n";
}

std::string heading(const std::string& title) {
  return "\n" + styled(title + ":", Style::Bold, output_has_colours()) + "\n";
}

std::string options_text(const std::vector<OptionEntry>& options, size_t columns) {
  std::string text;
  for (const OptionEntry& option : options) text += line_of(option.spelt(), option.text, columns);
  return text;
}

// "--help-all shows 22 more options: Compiling, Search"
std::string rare_text(const CommandPage& page) {
  size_t count = 0;
  std::vector<std::string> titles;
  for (const OptionGroup& group : page.groups) {
    if (!group.rare) continue;
    count += group.options.size();
    titles.push_back(group.title);
  }
  if (titles.empty()) return {};
  return fmt::format("\n--help-all shows {} more options: {}\n", count,
                     CLI::detail::join(titles, ", "));
}

class HelpFormatter final : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(std::vector<std::string> rare_groups)
      : rare_groups_(std::move(rare_groups)) {}

  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode mode) const override {
    return help_text(command_page(*app, rare_groups_), help_columns(),
                     mode != CLI::AppFormatMode::Normal);
  }

 private:
  std::vector<std::string> rare_groups_;
};

}  // namespace

std::string help_text(const CommandPage& page, size_t columns, bool all) {
  std::string text =
      base::wrapped_text(page.summary, 0, columns) + "\n\nUsage: " + page.usage + "\n";
  if (!page.positionals.empty()) text += "\n" + options_text(page.positionals, columns);
  if (!page.commands.empty()) {
    text += heading("Commands");
    for (const CommandPage& command : page.commands) {
      text += line_of(command.name.substr(command.name.rfind(' ') + 1), command.summary, columns);
    }
  }
  for (const OptionGroup& group : page.groups) {
    if (group.rare && !all) continue;
    text += heading(group.title) + options_text(group.options, columns);
  }
  if (!all) text += rare_text(page);
  if (!page.footer.empty()) text += "\n" + page.footer + (page.footer.ends_with('\n') ? "" : "\n");
  return text;
}

std::shared_ptr<CLI::FormatterBase> help_formatter(std::vector<std::string> rare_groups) {
  return std::make_shared<HelpFormatter>(std::move(rare_groups));
}

}  // namespace luminal::cli
