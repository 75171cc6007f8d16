// The text of --help: wrapped to the terminal, model options first, rare ones only with --help-all.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/cli/help/command_page.h"

namespace CLI {
class FormatterBase;
}

namespace luminal::cli {

std::string help_text(const CommandPage& page, size_t columns, bool all);

// The formatter of a command; `rare_groups` as in command_page().
std::shared_ptr<CLI::FormatterBase> help_formatter(std::vector<std::string> rare_groups);

}  // namespace luminal::cli
