// What one can type in a chat beside messages: /help, /reset …
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
  std::string argument;  // what follows its name, without the spaces around it
};

// "/set top-k 40". UserError that names the nearest command for one that there isn't.
TypedCommand parse_chat_command(std::string_view text);
// What /help prints.
std::string chat_commands_text();
// Their names, with the slash.
std::vector<std::string> chat_command_names();

}  // namespace luminal::cli
