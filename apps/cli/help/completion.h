// Shell completion scripts for the program.
#pragma once

#include <string>

#include "apps/cli/help/command_page.h"

namespace luminal::cli {

std::string bash_completion(const CommandPage& program);
std::string zsh_completion(const CommandPage& program);
std::string fish_completion(const CommandPage& program);

}  // namespace luminal::cli
