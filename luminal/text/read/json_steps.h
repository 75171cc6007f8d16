// The steps of a tokenizer.json: its normalizer, pre_tokenizer, post_processor and decoder.
#pragma once

#include <vector>

#include "luminal/text/read/checked_json.h"
#include "luminal/text/tokenize/tokenizer_parts.h"

namespace luminal::tokens {

// Each appends to what is there; a kind that isn't known is a UserError that names it.
void read_normalizer(const JsonNode& node, Normalizer& normalizer);
void read_pre_tokenizer(const JsonNode& node, PreTokenizer& pre_tokenizer);
void read_decoder(const JsonNode& node, Decoder& decoder);
// The special tokens around a single text.
void read_post_processor(const JsonNode& node, std::vector<TokenId>& before,
                         std::vector<TokenId>& after);

// The pattern GPT-2's words follow, made once.
std::shared_ptr<const Pattern> gpt2_words();

}  // namespace luminal::tokens
