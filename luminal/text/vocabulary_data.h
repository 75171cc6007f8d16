// VocabularyData: a tokenizer as the metadata of a model's file holds it, for readers of such
// files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace luminal {

// A plain record: a reader of files fills in what it finds and judges nothing; Tokenizer checks it
// all. The comments give the GGUF keys, after "tokenizer.ggml." where nothing else is said.
struct VocabularyData {
  // Of `types`.
  static constexpr int32_t kNormal = 1;
  static constexpr int32_t kUnknown = 2;
  static constexpr int32_t kControl = 3;
  static constexpr int32_t kUserDefined = 4;
  static constexpr int32_t kUnused = 5;
  static constexpr int32_t kByte = 6;

  std::string source;         // the file's name, for messages
  std::string model;          // model: "gpt2", "llama", "bert" or "t5"
  std::string pre_tokenizer;  // pre: "gpt-2", "llama-bpe", "smollm", "qwen2" …; empty for none
  std::vector<std::string> tokens;   // tokens: a token's place is its id
  std::vector<float> scores;         // scores: as many as tokens, or none
  std::vector<int32_t> types;        // token_type: as many as tokens, or none
  std::vector<std::string> merges;   // merges: "left right", the first merges first
  std::string precompiled_charsmap;  // precompiled_charsmap: bytes, as in sentencepiece's models

  std::optional<uint32_t> bos;        // bos_token_id
  std::optional<uint32_t> eos;        // eos_token_id
  std::optional<uint32_t> eot;        // eot_token_id: ends a turn
  std::optional<uint32_t> unknown;    // unknown_token_id
  std::optional<uint32_t> separator;  // seperator_token_id, which is how files spell it
  std::optional<uint32_t> padding;    // padding_token_id
  std::optional<uint32_t> cls;        // cls_token_id
  std::optional<uint32_t> mask;       // mask_token_id

  std::optional<bool> add_bos;                   // add_bos_token
  std::optional<bool> add_eos;                   // add_eos_token
  std::optional<bool> add_sep;                   // add_sep_token
  std::optional<bool> add_space_prefix;          // add_space_prefix
  std::optional<bool> remove_extra_whitespaces;  // remove_extra_whitespaces

  std::string chat_template;  // tokenizer.chat_template; empty for none
};

}  // namespace luminal
