// For builds without libedit's header.
#include "apps/cli/terminal/editline_lines.h"

namespace luminal::cli {

bool edits_lines() { return false; }

std::unique_ptr<LineSource> editline_lines(const std::filesystem::path&) { return nullptr; }

}  // namespace luminal::cli
