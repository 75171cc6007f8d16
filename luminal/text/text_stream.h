// TextStream: decodes tokens one by one, emitting whole characters only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/text/tokenizer.h"

namespace luminal {

// A character may span several tokens: its bytes are held back until it is complete. The
// concatenated pieces equal decoding all ids at once, unless the decoder revises bytes it has
// already decoded ("ByteFallback", when broken bytes follow good ones).
class LUMINAL_API TextStream {
 public:
  explicit TextStream(Tokenizer tokenizer, DecodeOptions options = {});

  // The text that one more token completes; may be empty.
  std::string add(TokenId id);
  // Returns what is still held back and resets the stream. Incomplete characters are shown as
  // U+FFFD, or dropped: use that if the text was cut off inside a character.
  enum class Broken : uint8_t { Shown, Dropped };
  std::string finish(Broken broken = Broken::Shown);

 private:
  void forget_old();

  Tokenizer tokenizer_;
  DecodeOptions options_;
  std::vector<TokenId> ids_;  // the latest ones: what a token decodes to depends on those before it
  std::string shown_;         // the part of their decoded text already returned
  size_t waiting_ = 0;        // tokens since something was returned
};

}  // namespace luminal
