// Text between a terminal's marks of a paste, as a message takes it.
#pragma once

#include <string>

namespace luminal::cli {

// Without the control characters that a terminal would act on, with \n for each end of a line, and
// without one at the end.
std::wstring pasted_text(const std::wstring& sent);

}  // namespace luminal::cli
