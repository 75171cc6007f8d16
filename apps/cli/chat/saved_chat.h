// A conversation in a file: {"messages": [{"role": …, "content": …}, …]}, as chat APIs write it.
#pragma once

#include <string>

#include "apps/cli/chat/conversation.h"

namespace luminal::cli {

// UserError where it can't be written.
void save_chat(const Conversation& conversation, const std::string& model, const std::string& file);
// UserError that names the fault for a file that isn't one.
Conversation load_chat(const std::string& file);

}  // namespace luminal::cli
