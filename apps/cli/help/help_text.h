// What --help prints: wrapped to the terminal, the options of models first, rare ones only for
// --help-all.
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

// Of a command; `rare_groups` as of command_page().
std::shared_ptr<CLI::FormatterBase> help_formatter(std::vector<std::string> rare_groups);

}  // namespace luminal::cli
