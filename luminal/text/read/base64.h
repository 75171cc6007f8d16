// Base64, in which JSON holds bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace luminal::tokens {

// The bytes; none for text that isn't base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace luminal::tokens
