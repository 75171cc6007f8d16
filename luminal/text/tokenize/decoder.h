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
  bool cleanup = true;  // no spaces before punctuation and English endings
};
struct DecodeMetaspace {
  std::string replacement;
  bool drop_first = true;  // the mark of the first token was put there by encoding
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
// All that sentencepiece does: marks to spaces, bytes to characters, the first mark dropped.
struct DecodeSentencePiece {
  std::string unknown;  // the token that shows as " ⁇ "
  bool drop_first = true;
  bool drop_all_at_start = false;
};

using DecoderStep =
    std::variant<DecodeByteLevel, DecodeWordPiece, DecodeMetaspace, DecodeByteFallback, DecodeFuse,
                 DecodeStrip, DecodeReplace, DecodeWordSuffix, DecodeSentencePiece>;

struct Decoder {
  std::vector<DecoderStep> steps;
  std::string between;  // what stands between tokens once all is done

  // Always UTF-8: bytes that aren't become U+FFFD.
  std::string decode(std::vector<std::string> tokens) const;
};

}  // namespace luminal::tokens
