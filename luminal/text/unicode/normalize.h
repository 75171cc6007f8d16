// The four normal forms of Unicode.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace luminal::tokens {

enum class NormalForm : uint8_t { NFC, NFD, NFKC, NFKD };

// The text, which is UTF-8, in a normal form.
std::string normalized(std::string_view text, NormalForm form);

}  // namespace luminal::tokens
