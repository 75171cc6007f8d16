// Text between a terminal's bracketed-paste marks, as a message takes it.
#pragma once

#include <string>

namespace luminal::cli {

// Removes control characters that a terminal would act on, uses \n as line end, and drops a
// trailing one.
std::wstring pasted_text(const std::wstring& sent);

}  // namespace luminal::cli
