// Of a build without libedit.
#include "apps/cli/chat/editline_lines.h"

namespace luminal::cli {

std::unique_ptr<LineSource> editline_lines(const std::filesystem::path&) { return nullptr; }

}  // namespace luminal::cli
