#include "luminal/text/subword/byte_tokens.h"

#include <fmt/format.h>

#include "luminal/text/unicode/utf8.h"

namespace luminal::tokens {
namespace {

constexpr char32_t kMoved = 0x100;
constexpr size_t kLetters = 324;  // 256, plus the 68 that move to U+0100 and above

struct ByteLetters {
  std::array<std::string, 256> letter;
  std::array<int, kLetters> byte;

  ByteLetters() {
    byte.fill(-1);
    char32_t next = kMoved;
    for (unsigned b = 0; b < 256; ++b) {
      const bool stays = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      const char32_t c = stays ? b : next++;
      letter[b] = utf8(c);
      byte[c] = static_cast<int>(b);
    }
  }
};

const ByteLetters& byte_letters() {
  static const ByteLetters letters;
  return letters;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::optional<uint8_t> byte_of_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const int high = hex_digit(token[3]);
  const int low = hex_digit(token[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<uint8_t>(high * 16 + low);
}

std::string byte_token(uint8_t byte) { return fmt::format("<0x{:02X}>", byte); }

std::optional<std::array<TokenId, 256>> byte_token_ids(const Vocabulary& vocabulary) {
  std::array<TokenId, 256> ids{};
  for (unsigned b = 0; b < 256; ++b) {
    const auto id = vocabulary.find(byte_token(static_cast<uint8_t>(b)));
    if (!id) return std::nullopt;
    ids[b] = *id;
  }
  return ids;
}

void append_byte_letters(std::string& out, std::string_view bytes) {
  const ByteLetters& letters = byte_letters();
  for (char c : bytes) out += letters.letter[static_cast<unsigned char>(c)];
}

std::optional<uint8_t> byte_of_letter(char32_t letter) {
  if (letter >= kLetters) return std::nullopt;
  const int byte = byte_letters().byte[letter];
  if (byte < 0) return std::nullopt;
  return static_cast<uint8_t>(byte);
}

}  // namespace luminal::tokens
