// luminal completion: scripts for bash, zsh and fish, generated from the option declarations.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "apps/cli/help/command_page.h"
#include "apps/cli/help/completion.h"
#include "apps/cli/options/command.h"

namespace luminal::cli {

void define_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "Shell: bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.callback([shell, &app] {
    const CommandPage program = command_page(*app.get_parent());
    std::cout << (*shell == "bash"  ? bash_completion(program)
                  : *shell == "zsh" ? zsh_completion(program)
                                    : fish_completion(program));
  });
}

}  // namespace luminal::cli
