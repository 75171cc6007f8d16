// What the files of sentence-transformers in a model's folder say about embeddings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "luminal/base/visibility.h"
#include "luminal/llm/pooling.h"

namespace luminal::llm {

struct SentenceFiles {
  std::string encoder;  // the folder with config.json, weights and tokenizer
  // From modules.json and the pooling's own config.json; none without a modules.json.
  std::optional<Pooling> pooling = std::nullopt;
  // The most tokens of a text (max_seq_length of sentence_bert_config.json).
  std::optional<int64_t> longest = std::nullopt;
  bool lower_case = false;  // texts are made lower case before the tokenizer sees them
};

// UserError for a module or a way of pooling that isn't supported, and for a path that leaves the
// folder.
LUMINAL_API SentenceFiles read_sentence_files(const std::string& folder);

}  // namespace luminal::llm
