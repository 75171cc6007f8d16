// Pre-tokenizers by the names that GGUF files give them.
#pragma once

#include <string>
#include <string_view>

#include "luminal/text/tokenize/normalizer.h"
#include "luminal/text/tokenize/pre_tokenizer.h"

namespace luminal::tokens {

struct NamedPreTokenizer {
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  bool ignore_merges = false;
};

// What a byte-level vocabulary of that name does before its merges. UserError, with the names there
// are, for another one.
NamedPreTokenizer named_pre_tokenizer(std::string_view name);

}  // namespace luminal::tokens
