// The tokenizer that a GGUF file's metadata holds.
#pragma once

#include <string>

#include "luminal/base/visibility.h"
#include "luminal/io/gguf.h"
#include "luminal/text/tokenizer.h"
#include "luminal/text/vocabulary_data.h"

namespace luminal {

// What the file says, copied. UserError when it has no tokens, and for a value of another kind or
// range; whether the parts fit together is for the tokenizer to judge.
LUMINAL_API VocabularyData read_vocabulary(const Gguf& file);

// A tokenizer from a GGUF file, or from any other file or folder that Tokenizer::open takes.
LUMINAL_API Tokenizer open_tokenizer(const std::string& path);

}  // namespace luminal
