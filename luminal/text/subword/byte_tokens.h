// Bytes as tokens: byte fallback ("<0x0A>"), and the printable letters of byte-level vocabularies.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "luminal/text/subword/vocabulary.h"

namespace luminal::tokens {

// The byte that "<0x0A>" encodes.
std::optional<uint8_t> byte_of_token(std::string_view token);
std::string byte_token(uint8_t byte);

// The ids of all 256 byte tokens; nullopt if one is missing.
std::optional<std::array<TokenId, 256>> byte_token_ids(const Vocabulary& vocabulary);

// GPT-2 writes each byte as a printable letter: printable bytes stay, others map to U+0100 and
// above, so that tokens contain no spaces.
void append_byte_letters(std::string& out, std::string_view bytes);
// The byte that a letter encodes; nullopt for other letters.
std::optional<uint8_t> byte_of_letter(char32_t letter);

}  // namespace luminal::tokens
