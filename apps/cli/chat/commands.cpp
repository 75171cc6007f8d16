#include "apps/cli/chat/commands.h"

#include <fmt/format.h>

#include <optional>

#include "apps/cli/options/closest_word.h"
#include "luminal/base/errors.h"
#include "luminal/base/text/printable.h"

namespace luminal::cli {
namespace {

struct Row {
  ChatCommand command;
  const char* name;
  const char* argument;
  const char* help;
};

constexpr Row kRows[] = {
    {ChatCommand::Help, "/help", "", "This list"},
    {ChatCommand::Reset, "/reset", "", "Begin a new conversation; the system message stays"},
    {ChatCommand::Regenerate, "/regenerate", "", "Answer the last message again"},
    {ChatCommand::System, "/system", "[TEXT]", "Show or set what the model is told beforehand"},
    {ChatCommand::Set, "/set", "[NAME VALUE]", "Show or change sampling, as /set temperature 0.5"},
    {ChatCommand::Save, "/save", "FILE", "Write the conversation to a file, as JSON"},
    {ChatCommand::Load, "/load", "FILE", "Go on with a conversation that was saved"},
    {ChatCommand::Stats, "/stats", "", "What the last answer took"},
    {ChatCommand::Quit, "/quit", "", "Leave, as Ctrl-D does"},
};

constexpr const char* kKeys =
    "\n"
    "  \"\"\"                   Begin or end a message of several lines\n"
    "  Alt-Enter             Begin a new line of the message\n"
    "  Ctrl-C                Stop the answer, or drop the line\n"
    "  Up, Down, Ctrl-R      Recall earlier messages, or search them\n"
    "\n"
    "Pasted text is one message, however many lines it has.\n";

std::optional<ChatCommand> command_of(std::string_view name) {
  if (name == "/?") return ChatCommand::Help;
  if (name == "/exit" || name == "/bye" || name == "/q") return ChatCommand::Quit;
  for (const Row& row : kRows) {
    if (name == row.name) return row.command;
  }
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* kSpaces = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

}  // namespace

TypedCommand parse_chat_command(std::string_view text) {
  text = trimmed(text);
  const std::string_view name = text.substr(0, text.find_first_of(" \t\n"));
  const std::optional<ChatCommand> command = command_of(name);
  if (!command) {
    const std::string guess = did_you_mean(name, chat_command_names());
    throw UserError("there is no command '" + base::printable(name, 40) + "'" +
                    (guess.empty() ? "; /help lists them" : guess));
  }
  return {.command = *command, .argument = std::string(trimmed(text.substr(name.size())))};
}

std::string chat_commands_text() {
  std::string text;
  for (const Row& row : kRows) {
    text += fmt::format("  {:<22}{}\n", fmt::format("{} {}", row.name, row.argument), row.help);
  }
  return text + kKeys;
}

std::vector<std::string> chat_command_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return names;
}

}  // namespace luminal::cli
