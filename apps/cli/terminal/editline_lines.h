// Lines typed at a terminal, with libedit: editing, persistent history, pasted text as one message.
#pragma once

#include <filesystem>
#include <memory>

#include "apps/cli/terminal/message_reader.h"

namespace luminal::cli {

// Whether the system has libedit, and the program was built with its header.
bool edits_lines();

// `history`: the file that keeps messages, readable by this user only; empty for none. Null if
// lines can't be edited.
std::unique_ptr<LineSource> editline_lines(const std::filesystem::path& history);

}  // namespace luminal::cli
