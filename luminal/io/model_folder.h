// ModelFolder: a model as Hugging Face lays it out, a folder with config.json, safetensors and
// the files of a tokenizer.
#pragma once

#include <optional>
#include <string>

#include "luminal/base/visibility.h"
#include "luminal/io/config.h"
#include "luminal/io/safetensors.h"

namespace luminal {

// Files of a tokenizer that are there; their names are those of the fields, e.g. tokenizer.json.
struct TokenizerFiles {
  std::optional<std::string> tokenizer_json = std::nullopt;
  std::optional<std::string> tokenizer_model = std::nullopt;
  std::optional<std::string> tokenizer_config_json = std::nullopt;
  std::optional<std::string> special_tokens_map_json = std::nullopt;
  std::optional<std::string> chat_template_jinja = std::nullopt;
  std::optional<std::string> vocab_txt = std::nullopt;
  std::optional<std::string> vocab_json = std::nullopt;
  std::optional<std::string> merges_txt = std::nullopt;
};

struct LUMINAL_API ModelFolder {
  std::string path;
  Config config;
  std::optional<Config> generation_config;
  SafeTensors tensors;  // model.safetensors, or the shards that its index names
  TokenizerFiles tokenizer;

  // Maps the weights. UserError that names what is missing or wrong.
  static ModelFolder open(const std::string& path);
};

}  // namespace luminal
