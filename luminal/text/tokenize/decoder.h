// Decoder: the steps that turn tokens back into text.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "luminal/text/regex/pattern.h"

namespace luminal::tokens {

struct DecodeByteLevel {};
struct DecodeWordPiece {
  std::string prefix = "##";
  bool cleanup = true;  // removes spaces before punctuation and English contractions
};
struct DecodeMetaspace {
  std::string replacement;
  bool drop_first = true;  // encoding put the mark before the first token
};
struct DecodeByteFallback {};
struct DecodeFuse {};
struct DecodeStrip {
  std::string content;
  size_t start = 0;
  size_t stop = 0;
};
struct DecodeReplace {
  std::variant<std::string, std::shared_ptr<const Pattern>> from;
  std::string to;
};
struct DecodeWordSuffix {
  std::string suffix;
};
// The decoder of SentencePiece: marks to spaces, bytes to characters, the first mark dropped.
struct DecodeSentencePiece {
  std::string unknown;  // printed as " ⁇ "
  bool drop_first = true;
  bool drop_all_at_start = false;
};

using DecoderStep =
    std::variant<DecodeByteLevel, DecodeWordPiece, DecodeMetaspace, DecodeByteFallback, DecodeFuse,
                 DecodeStrip, DecodeReplace, DecodeWordSuffix, DecodeSentencePiece>;

struct Decoder {
  std::vector<DecoderStep> steps;
  std::string between;  // separator of the decoded tokens

  // Always valid UTF-8: invalid bytes become U+FFFD.
  std::string decode(std::vector<std::string> tokens) const;
};

}  // namespace luminal::tokens
