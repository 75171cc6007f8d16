// The commands of a chat: /help, /reset …
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::cli {

enum class ChatCommand : uint8_t {
  Help,
  Reset,
  Regenerate,
  System,
  Set,
  Save,
  Load,
  Stats,
  Quit,
};

struct TypedCommand {
  ChatCommand command;
  std::string argument;  // after the name, trimmed
};

// Parses "/set top-k 40". UserError that suggests the nearest command for an unknown one.
TypedCommand parse_chat_command(std::string_view text);
// The text of /help.
std::string chat_commands_text();
// The names of the commands, with the slash.
std::vector<std::string> chat_command_names();

}  // namespace luminal::cli
