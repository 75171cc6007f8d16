// CommandPage: a command's documentation, extracted from its definition. Help, man pages and
// completion are generated from it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace luminal::cli {

struct OptionEntry {
  std::vector<std::string> names;  // "-p", "--prompt"; for a positional "model"
  std::string value;               // "TEXT", "f32|bf16"; empty for a flag
  std::vector<std::string> choices;
  std::string text;  // including the default
  bool required = false;
  bool repeated = false;  // may be given several times
  bool takes_file = false;

  // "-p, --prompt TEXT"
  std::string spelt() const;
};

struct OptionGroup {
  std::string title;
  std::vector<OptionEntry> options;
  bool rare = false;  // shown only by --help-all
};

struct CommandPage {
  std::string name;  // "luminal cache stats"
  std::string summary;
  std::string usage;  // "luminal run [OPTIONS] path"
  std::vector<OptionEntry> positionals;
  std::vector<OptionGroup> groups;
  std::vector<CommandPage> commands;
  std::string footer;  // examples
};

// `rare_groups`: titles of groups that only --help-all shows.
CommandPage command_page(const CLI::App& app, const std::vector<std::string>& rare_groups = {});

// The command that a finished or failed parse reached: the innermost named one.
const CLI::App& parsed_command(const CLI::App& root);
// "luminal cache stats"
std::string command_name(const CLI::App& app);

}  // namespace luminal::cli
