#include "apps/cli/help/usage_message.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "apps/cli/help/command_page.h"
#include "apps/cli/options/closest_word.h"
#include "luminal/base/text/printable.h"

namespace luminal::cli {
namespace {

std::vector<std::string> option_names(const CommandPage& page) {
  std::vector<std::string> names;
  for (const OptionGroup& group : page.groups) {
    for (const OptionEntry& option : group.options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  return names;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::string unknown(const CLI::App& command, const std::string& word) {
  const std::string quoted = "'" + base::printable(word, 60) + "'";
  if (word.starts_with("-") && word.size() > 1) {
    const std::string name = word.substr(0, word.find('='));
    return "there is no option " + quoted + " of `" + command_name(command) + "`" +
           did_you_mean(name, option_names(command_page(command)));
  }
  const std::vector<std::string> commands = subcommand_names(command);
  if (!commands.empty()) return "there is no command " + quoted + did_you_mean(word, commands);
  return "`" + command_name(command) + "` doesn't expect " + quoted +
         "; text with spaces goes in quotes";
}

}  // namespace

std::string usage_message(const CLI::App* app, const CLI::Error& error) {
  const CLI::App& command = parsed_command(*app);
  std::string message = error.what();
  // CLI11 reports missing arguments before misspelt ones.
  const std::vector<std::string> left = app->remaining(true);
  const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (!left.empty() && (is_missing || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)) {
    message = unknown(command, left.front());
  } else if (is_missing && !subcommand_names(command).empty()) {
    const bool takes_path = !command_page(command).positionals.empty();
    message = "`" + command_name(command) + "` needs " +
              (takes_path ? "a graph, a model or a command" : "a command");
  }
  return "luminal: " + message + "\n" + command_name(command) + " --help lists what there is\n";
}

}  // namespace luminal::cli
