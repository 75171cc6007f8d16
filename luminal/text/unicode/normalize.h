// The four Unicode normalisation forms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace luminal::tokens {

enum class NormalForm : uint8_t { NFC, NFD, NFKC, NFKD };

// Normalises UTF-8 text.
std::string normalized(std::string_view text, NormalForm form);

}  // namespace luminal::tokens
