// Lines typed at a terminal, with libedit: editing, a history across sessions, pasted text as one
// line.
#pragma once

#include <filesystem>
#include <memory>

#include "apps/cli/terminal/message_reader.h"

namespace luminal::cli {

// Whether the system has libedit, and the program was built with its header.
bool edits_lines();

// `history`: the file that keeps messages, for this user alone; empty for none. Null where lines
// aren't edited.
std::unique_ptr<LineSource> editline_lines(const std::filesystem::path& history);

}  // namespace luminal::cli
