// A conversation in a file: {"messages": [{"role": …, "content": …}, …]}, the format of chat APIs.
#pragma once

#include <string>

#include "apps/cli/chat/conversation.h"

namespace luminal::cli {

// UserError if it can't be written.
void save_chat(const Conversation& conversation, const std::string& model, const std::string& file);
// UserError that describes the fault of an invalid file.
Conversation load_chat(const std::string& file);

}  // namespace luminal::cli
