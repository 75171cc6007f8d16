// The steps of a tokenizer.json: its normalizer, pre_tokenizer, post_processor and decoder.
#pragma once

#include <vector>

#include "luminal/text/read/checked_json.h"
#include "luminal/text/tokenize/tokenizer_parts.h"

namespace luminal::tokens {

// Each appends to its output; UserError that names an unknown kind.
void read_normalizer(const JsonNode& node, Normalizer& normalizer);
void read_pre_tokenizer(const JsonNode& node, PreTokenizer& pre_tokenizer);
void read_decoder(const JsonNode& node, Decoder& decoder);
// Reads the special tokens around a single text.
void read_post_processor(const JsonNode& node, std::vector<TokenId>& before,
                         std::vector<TokenId>& after);

// The regular expression of GPT-2's words, compiled once.
std::shared_ptr<const Pattern> gpt2_words();

}  // namespace luminal::tokens
