// The words that the printer and the parser of the text form share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "luminal/graph/node.h"

namespace luminal {

inline constexpr std::string_view kTextHeader = "luminal-graph";
inline constexpr int kTextVersion = 1;
inline constexpr int64_t kMostPrintedData = 64;

std::string_view role_text(Role role);  // "input", "weight" or "state"

}  // namespace luminal
