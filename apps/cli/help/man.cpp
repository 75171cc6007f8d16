// luminal man: the man pages of the program, generated from the option declarations.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "apps/cli/help/command_page.h"
#include "apps/cli/help/man_page.h"
#include "apps/cli/options/closest_word.h"
#include "apps/cli/options/command.h"
#include "luminal/base/errors.h"

namespace luminal::cli {
namespace {

struct ManOptions {
  std::string command;
  std::string folder;
};

void write_page(const CommandPage& page, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / man_file_name(page);
  std::ofstream out(file);
  out << man_page(page);
  out.close();
  if (!out) throw UserError("can't write '" + file.string() + "'");
}

void write_pages(const CommandPage& program, const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  write_page(program, folder);
  for (const CommandPage& command : program.commands) write_page(command, folder);
}

void print_page(const CommandPage& program, const std::string& name) {
  if (name.empty()) {
    std::cout << man_page(program);
    return;
  }
  std::vector<std::string> names;
  for (const CommandPage& command : program.commands) {
    names.push_back(command.name.substr(program.name.size() + 1));
    if (names.back() != name) continue;
    std::cout << man_page(command);
    return;
  }
  throw UserError("there is no command '" + name + "'" + did_you_mean(name, names));
}

}  // namespace

void define_man(CLI::App& app) {
  auto options = std::make_shared<ManOptions>();
  CLI::Option* command =
      app.add_option("command", options->command, "Command to document (default: the program)");
  app.add_option("--folder", options->folder, "Write the pages of all commands into this folder")
      ->type_name("FOLDER")
      ->excludes(command);
  app.callback([options, &app] {
    const CommandPage program = command_page(*app.get_parent());
    if (options->folder.empty()) return print_page(program, options->command);
    write_pages(program, options->folder);
  });
}

}  // namespace luminal::cli
