// Base64, the encoding of bytes in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace luminal::tokens {

// The decoded bytes; nullopt for invalid base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace luminal::tokens
