#include "apps/cli/help/command_page.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/cli/options/model_options.h"

namespace luminal::cli {
namespace {

constexpr size_t kLongestChoices = 24;  // columns of "f32|bf16"

// "TEXT:{f32,bf16}" has the choices f32 and bf16.
std::vector<std::string> choices_of(const std::string& type) {
  const size_t open = type.find(":{"), close = type.find('}');
  if (open == type.npos || close == type.npos) return {};
  return CLI::detail::split(type.substr(open + 2, close - open - 2), ',');
}

std::string value_of(const std::string& type, const std::vector<std::string>& choices) {
  const std::string joined = CLI::detail::join(choices, "|");
  if (!choices.empty() && joined.size() <= kLongestChoices) return joined;
  if (type.find("[:") != type.npos) return type;  // "OP[:KIND]" has no validator
  const size_t named = type.find(':');
  std::string value = type.substr(0, named);
  // "TEXT:NAME=VALUE" is a type with a description, which is more specific.
  if (choices.empty() && value == "TEXT" && named != type.npos) value = type.substr(named + 1);
  if (value == "INT" || value == "UINT") return "N";
  return value == "FLOAT" ? "NUMBER" : value;
}

std::string text_of(const CLI::Option& option, const OptionEntry& entry) {
  std::string text = option.get_description();
  if (!entry.choices.empty() && entry.value.find('|') == std::string::npos) {
    text += fmt::format(": {}", CLI::detail::join(entry.choices, ", "));
  }
  const std::string preset = option.get_default_str();
  return preset.empty() || option.get_positional() ? text
                                                   : text + fmt::format(" (default: {})", preset);
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry;
  if (option.get_positional()) {
    entry.names = {option.get_name(true, false)};
  } else {
    for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  }
  const std::string type = option.get_type_size() == 0 ? "" : option.get_type_name();
  entry.choices = choices_of(type);
  if (!option.get_positional()) entry.value = value_of(type, entry.choices);
  entry.text = text_of(option, entry);
  entry.required = option.get_required();
  entry.repeated = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  entry.takes_file = entry.value.find("FILE") != std::string::npos ||
                     entry.value.find("FOLDER") != std::string::npos ||
                     (option.get_positional() && entry.choices.empty());
  return entry;
}

std::string usage_of(const CLI::App& app, const std::vector<OptionEntry>& positionals) {
  std::string usage = command_name(app) + " [OPTIONS]";
  const bool has_commands = !app.get_subcommands([](const CLI::App*) { return true; }).empty();
  if (has_commands && !positionals.empty()) {
    return usage + " " + positionals[0].names[0] + " | " + command_name(app) + " COMMAND";
  }
  for (const OptionEntry& entry : positionals) {
    const std::string name = entry.names[0] + (entry.repeated ? "..." : "");
    usage += entry.required ? " " + name : " [" + name + "]";
  }
  return has_commands ? usage + " COMMAND" : usage;
}

// A command that runs models lists the model options first.
std::vector<std::string> titles_of(const CLI::App& app) {
  std::vector<std::string> titles = app.get_groups();
  std::ranges::stable_partition(
      titles, [](const std::string& title) { return title == ModelArguments::kGroup; });
  return titles;
}

}  // namespace

std::string OptionEntry::spelt() const {
  std::string all = CLI::detail::join(names, ", ");
  if (!value.empty()) all += " " + value;
  return repeated ? all + " ..." : all;
}

std::string command_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : command_name(*parent) + " " + app.get_name();
}

const CLI::App& parsed_command(const CLI::App& root) {
  const std::vector<CLI::App*> named = root.get_subcommands();
  return named.empty() ? root : parsed_command(*named.back());
}

CommandPage command_page(const CLI::App& app, const std::vector<std::string>& rare_groups) {
  CommandPage page{.name = command_name(app),
                   .summary = app.get_description(),
                   .usage = {},
                   .positionals = {},
                   .groups = {},
                   .commands = {},
                   .footer = app.get_footer()};
  const auto options = app.get_options([](const CLI::Option*) { return true; });
  for (const CLI::Option* option : options) {
    if (option->get_positional()) page.positionals.push_back(entry_of(*option));
  }
  for (const std::string& title : titles_of(app)) {
    if (title.empty()) continue;
    OptionGroup group{.title = title, .options = {}};
    group.rare = std::ranges::find(rare_groups, title) != rare_groups.end();
    for (const CLI::Option* option : options) {
      if (option->nonpositional() && option->get_group() == title) {
        group.options.push_back(entry_of(*option));
      }
    }
    if (!group.options.empty()) page.groups.push_back(std::move(group));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    page.commands.push_back(command_page(*command, rare_groups));
  }
  page.usage = usage_of(app, page.positionals);
  return page;
}

}  // namespace luminal::cli
