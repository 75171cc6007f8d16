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

// The pre-tokenizer of this name, for byte-level vocabularies. UserError lists the known names.
NamedPreTokenizer named_pre_tokenizer(std::string_view name);

}  // namespace luminal::tokens
