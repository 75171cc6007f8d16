#include "apps/cli/help/completion.h"

#include <fmt/format.h>

#include <functional>
#include <sstream>

namespace luminal::cli {
namespace {

// "cache stats" for `luminal cache stats`; empty for the program.
std::string place_of(const CommandPage& page) {
  const size_t space = page.name.find(' ');
  return space == std::string::npos ? "" : page.name.substr(space + 1);
}

std::string last_word(const CommandPage& page) {
  return page.name.substr(page.name.rfind(' ') + 1);
}

// Visits the program, its commands, and their subcommands.
void for_each_page(const CommandPage& page, const std::function<void(const CommandPage&)>& take) {
  take(page);
  for (const CommandPage& command : page.commands) for_each_page(command, take);
}

void for_each_option(const CommandPage& page, const std::function<void(const OptionEntry&)>& take) {
  for (const OptionGroup& group : page.groups) {
    for (const OptionEntry& option : group.options) take(option);
  }
}

// Words expected at a position: commands, or the choices of a positional.
std::vector<std::string> words_of(const CommandPage& page) {
  std::vector<std::string> words;
  for (const CommandPage& command : page.commands) words.push_back(last_word(command));
  if (!page.positionals.empty()) {
    const std::vector<std::string>& choices = page.positionals[0].choices;
    words.insert(words.end(), choices.begin(), choices.end());
  }
  return words;
}

// Whether a file may stand where a command may: `luminal tune`.
bool takes_either(const CommandPage& page) {
  return !page.commands.empty() && !page.positionals.empty();
}

std::string replaced(const std::string& text, const std::string& characters,
                     const std::function<std::string(char)>& by) {
  std::string out;
  for (const char character : text) {
    const bool found = characters.find(character) != std::string::npos;
    out += found ? by(character) : std::string(1, character);
  }
  return out;
}

std::string join(const std::vector<std::string>& words, const char* between) {
  return fmt::format("{}", fmt::join(words, between));
}

// Cases for options that expect a value, "run --dtype" | "run -d", and how to complete it.
std::string bash_values(const CommandPage& page) {
  std::string cases;
  for_each_option(page, [&](const OptionEntry& option) {
    if (option.value.empty()) return;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) {
      patterns.push_back(fmt::format("\"{} {}\"", place_of(page), name));
    }
    std::string how = "return";
    if (!option.choices.empty()) {
      how = fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$current\")); return",
                        join(option.choices, " "));
    } else if (option.takes_file) {
      how = "_luminal_files; return";
    }
    cases += fmt::format("    {}) {} ;;\n", join(patterns, " | "), how);
  });
  return cases;
}

std::string zsh_text(const std::string& text) {
  return replaced(text, "'[]:\\`", [](char c) -> std::string {
    if (c == '\'') return "'\\''";
    return c == '`' ? "\"" : std::string("\\") + c;
  });
}

// The lines of _arguments for a command.
std::string zsh_arguments(const CommandPage& page) {
  std::string lines;
  for_each_option(page, [&](const OptionEntry& option) {
    std::string value;
    if (!option.choices.empty()) {
      value = fmt::format(":{}:({})", zsh_text(option.value), join(option.choices, " "));
    } else if (!option.value.empty()) {
      value = fmt::format(":{}:{}", zsh_text(option.value), option.takes_file ? "_files" : "");
    }
    for (const std::string& name : option.names) {
      lines += fmt::format(" \\\n        '*{}[{}]{}'", name, zsh_text(option.text), value);
    }
  });
  const std::vector<std::string> words = words_of(page);
  if (!page.commands.empty()) {
    std::vector<std::string> described;
    for (const CommandPage& command : page.commands) {
      described.push_back(
          fmt::format("{}\\:\"{}\"", last_word(command), zsh_text(command.summary)));
    }
    const std::string commands = fmt::format("'1:command:(({}))'", join(described, " "));
    if (!takes_either(page)) return lines + " \\\n        " + commands;
    // Files as well as commands.
    return lines + fmt::format(
                       " \\\n        '1:command or file:{{_alternative "
                       "\"commands\\:command\\:({})\" \"files\\:file\\:_files\"}}'",
                       join(words, " "));
  }
  if (!words.empty()) return lines + fmt::format(" \\\n        '1:word:({})'", join(words, " "));
  return lines + (page.positionals.empty() ? "" : " \\\n        '*:file:_files'");
}

std::string fish_text(const std::string& text) {
  return "'" + replaced(text, "'\\", [](char c) { return std::string("\\") + c; }) + "'";
}

std::string fish_condition(const CommandPage& page) {
  if (place_of(page).empty()) return "__fish_use_subcommand";
  std::istringstream words(place_of(page));
  std::vector<std::string> seen;
  for (std::string word; words >> word;) seen.push_back("__fish_seen_subcommand_from " + word);
  return "'" + join(seen, "; and ") + "'";
}

std::string fish_option(const std::string& condition, const OptionEntry& option) {
  std::string line = "complete -c luminal -n " + condition;
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.choices.empty()) {
    line += " -x -a '" + join(option.choices, " ") + "'";
  } else if (!option.value.empty()) {
    line += option.takes_file ? " -r -F" : " -x";
  }
  return line + " -d " + fish_text(option.text) + "\n";
}

}  // namespace

std::string bash_completion(const CommandPage& program) {
  std::string places, values, lists;
  for_each_page(program, [&](const CommandPage& page) {
    for (const CommandPage& command : page.commands) {
      places += fmt::format("      \"{} {}\") place=\"{}\" ;;\n", place_of(page),
                            last_word(command), place_of(command));
    }
    values += bash_values(page);
    std::vector<std::string> options;
    for_each_option(page, [&](const OptionEntry& option) {
      options.insert(options.end(), option.names.begin(), option.names.end());
    });
    lists += fmt::format("    \"{}\") options=\"{}\" words=\"{}\"{} ;;\n", place_of(page),
                         join(options, " "), join(words_of(page), " "),
                         takes_either(page) ? " or_file=yes" : "");
  });
  return fmt::format(R"(# Completion of `luminal` for bash; made by `luminal completion bash`.
_luminal_files() {{
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$current")
}}

_luminal() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
  local place="" options="" words="" or_file="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$place ${{COMP_WORDS[i]}}" in
{}    esac
  done
  case "$place $previous" in
{}  esac
  case "$place" in
{}  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    if [[ -n $or_file && ${{#COMPREPLY[@]}} == 0 ]]; then _luminal_files; fi
  else
    _luminal_files
  fi
}}
complete -F _luminal luminal
)",
                     places, values, lists);
}

std::string zsh_completion(const CommandPage& program) {
  std::vector<std::string> places;
  std::string cases;
  for_each_page(program, [&](const CommandPage& page) {
    const std::string place = place_of(page);
    if (!place.empty()) places.push_back(fmt::format("\" {}\"", place));
    cases += fmt::format("    \"{}\")\n      _arguments -S{} ;;\n",
                         place.empty() ? "" : " " + place, zsh_arguments(page));
  });
  return fmt::format(R"(#compdef luminal
# Completion of `luminal` for zsh; made by `luminal completion zsh`.
_luminal() {{
  local place="" i=2
  while (( i < CURRENT )); do
    case "$place $words[i]" in
      {})
        place="$place $words[i]"
        words=("${{(@)words[i,-1]}}")
        (( CURRENT -= i - 1 ))
        i=2 ;;
      *) (( i++ )) ;;
    esac
  done
  case "$place" in
{}  esac
}}
if [[ $funcstack[1] == _luminal ]]; then _luminal "$@"; else compdef _luminal luminal; fi
)",
                     join(places, " | "), cases);
}

std::string fish_completion(const CommandPage& program) {
  std::string text =
      "# Completion of `luminal` for fish; made by `luminal completion fish`.\n"
      "complete -c luminal -f\n";
  for_each_page(program, [&](const CommandPage& page) {
    const std::string condition = fish_condition(page);
    for (const CommandPage& command : page.commands) {
      text += fmt::format("complete -c luminal -n {} -a {} -d {}\n", condition, last_word(command),
                          fish_text(command.summary));
    }
    for_each_option(page,
                    [&](const OptionEntry& option) { text += fish_option(condition, option); });
    const std::vector<std::string> words = words_of(page);
    if (takes_either(page)) text += fmt::format("complete -c luminal -n {} -F\n", condition);
    if (!page.commands.empty() || page.positionals.empty()) return;
    text += fmt::format("complete -c luminal -n {} {}\n", condition,
                        words.empty() ? "-F" : "-a '" + join(words, " ") + "'");
  });
  return text;
}

}  // namespace luminal::cli
