// TextStream: the text of tokens as they come, in whole characters only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/text/tokenizer.h"

namespace luminal {

// A character may lie in several tokens: its bytes are held back until it is whole. All pieces in
// order are what decoding all ids at once gives, unless the decoder changes its mind about bytes it
// has decoded already ("ByteFallback", when broken bytes follow good ones).
class LUMINAL_API TextStream {
 public:
  explicit TextStream(Tokenizer tokenizer, DecodeOptions options = {});

  // The text that one more token completes; may be empty.
  std::string add(TokenId id);
  // What is still held back; the stream starts anew. What never became whole is shown as U+FFFD,
  // or dropped: where a text was cut, its character would have gone on.
  enum class Broken : uint8_t { Shown, Dropped };
  std::string finish(Broken broken = Broken::Shown);

 private:
  void forget_old();

  Tokenizer tokenizer_;
  DecodeOptions options_;
  std::vector<TokenId> ids_;  // the last ones: what a token decodes to depends on those before it
  std::string shown_;         // how much of what they decode to was given out
  size_t waiting_ = 0;        // tokens since something was
};

}  // namespace luminal
