// Normalizer: the steps that change a text before it is split into words.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "luminal/text/regex/pattern.h"
#include "luminal/text/subword/prefix_tree.h"
#include "luminal/text/tokenize/charsmap.h"
#include "luminal/text/unicode/normalize.h"

namespace luminal::tokens {

struct LowerCase {};
struct StripSpace {
  bool left = true;
  bool right = true;
};
struct StripAccents {};  // removes combining marks; the text must be decomposed already
struct ReplaceText {
  std::string from;
  std::string to;
};
struct ReplacePattern {
  std::shared_ptr<const Pattern> from;
  std::string to;
};
struct PrependText {
  std::string text;  // prepended unless the text is empty
};
struct BertCleaning {
  bool clean_text = true;     // removes control characters, maps white space to spaces
  bool space_chinese = true;  // puts spaces around each ideograph
  bool strip_accents = true;
  bool lower_case = true;
};
struct NmtCleaning {};  // SentencePiece's nmt rules for control characters and spaces
struct MapCharacters {
  std::shared_ptr<const Charsmap> map;
};
struct ToByteLetters {};
// SentencePiece's complete normalisation.
struct SentencePieceSpaces {
  std::shared_ptr<const Charsmap> map;  // may be null
  bool add_dummy_prefix = true;
  bool remove_extra_spaces = false;
  bool space_is_suffix = false;
  std::shared_ptr<const PrefixTree> user_defined;  // left unchanged; may be null
};

using NormalizerStep = std::variant<NormalForm, LowerCase, StripSpace, StripAccents, ReplaceText,
                                    ReplacePattern, PrependText, BertCleaning, NmtCleaning,
                                    MapCharacters, ToByteLetters, SentencePieceSpaces>;

struct Normalizer {
  std::vector<NormalizerStep> steps;

  // UserError if the result has more than `most` bytes; 0: most_bytes_made_of(text.size()).
  std::string apply(std::string_view text, size_t most = 0) const;
};

// The size limit of a normalised text: steps come from untrusted files, and a chain of replacements
// multiplies its input.
constexpr size_t most_bytes_made_of(size_t text_bytes) {
  return (size_t{16} << 20) + 64 * text_bytes;
}
// UserError if `bytes` > `most`.
void check_growth(size_t bytes, size_t most);

// U+2581, SentencePiece's mark for a space.
constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

std::string replaced(std::string_view text, std::string_view from, std::string_view to,
                     size_t most = std::string::npos);

}  // namespace luminal::tokens
