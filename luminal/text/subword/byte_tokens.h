// Bytes as tokens: "<0x0A>" for what a vocabulary lacks, and the letters that stand for bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "luminal/text/subword/vocabulary.h"

namespace luminal::tokens {

// The byte that "<0x0A>" stands for.
std::optional<uint8_t> byte_of_token(std::string_view token);
std::string byte_token(uint8_t byte);

// The ids of all 256 byte tokens; none if one is missing.
std::optional<std::array<TokenId, 256>> byte_token_ids(const Vocabulary& vocabulary);

// GPT-2 writes each byte as a printable letter: bytes that are letters stay, others move to U+0100
// and on, so that a token is text without spaces.
void append_byte_letters(std::string& out, std::string_view bytes);
// The byte a letter stands for; none for other letters.
std::optional<uint8_t> byte_of_letter(char32_t letter);

}  // namespace luminal::tokens
