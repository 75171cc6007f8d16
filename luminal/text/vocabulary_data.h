// VocabularyData: a tokenizer as stored in the metadata of a model file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace luminal {

// A plain record: file readers fill in what they find without checking it; Tokenizer validates it.
// The comments give the GGUF keys, which follow "tokenizer.ggml." unless given in full.
struct VocabularyData {
  // Values of `types`.
  static constexpr int32_t kNormal = 1;
  static constexpr int32_t kUnknown = 2;
  static constexpr int32_t kControl = 3;
  static constexpr int32_t kUserDefined = 4;
  static constexpr int32_t kUnused = 5;
  static constexpr int32_t kByte = 6;

  std::string source;         // the file's name, for messages
  std::string model;          // model: "gpt2", "llama", "bert" or "t5"
  std::string pre_tokenizer;  // pre: "gpt-2", "llama-bpe", "smollm", "qwen2" …; empty if absent
  std::vector<std::string> tokens;   // tokens: the index of a token is its id
  std::vector<float> scores;         // scores: one per token, or empty
  std::vector<int32_t> types;        // token_type: one per token, or empty
  std::vector<std::string> merges;   // merges: "left right", highest priority first
  std::string precompiled_charsmap;  // precompiled_charsmap: bytes, as in SentencePiece models

  std::optional<uint32_t> bos;        // bos_token_id
  std::optional<uint32_t> eos;        // eos_token_id
  std::optional<uint32_t> eot;        // eot_token_id: ends a turn
  std::optional<uint32_t> unknown;    // unknown_token_id
  std::optional<uint32_t> separator;  // seperator_token_id (sic)
  std::optional<uint32_t> padding;    // padding_token_id
  std::optional<uint32_t> cls;        // cls_token_id
  std::optional<uint32_t> mask;       // mask_token_id

  std::optional<bool> add_bos;                   // add_bos_token
  std::optional<bool> add_eos;                   // add_eos_token
  std::optional<bool> add_sep;                   // add_sep_token
  std::optional<bool> add_space_prefix;          // add_space_prefix
  std::optional<bool> remove_extra_whitespaces;  // remove_extra_whitespaces

  std::string chat_template;  // tokenizer.chat_template; empty if absent
};

}  // namespace luminal
