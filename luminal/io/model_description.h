// ModelDescription: what the files of a model say about it beside weights and tokenizer. What every
// format that holds whole models gives, and what llm::Families choose a family by.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/io/config.h"
#include "luminal/io/gguf.h"
#include "luminal/io/settings.h"

namespace luminal {

// Namings: whose keys the settings have, and whose names the weights. "hidden_size" and
// "model.norm.weight" are Hugging Face's, "llama.embedding_length" and "output_norm.weight" GGUF's.
// A format either takes one of these, so that the families that are there read it, or has a naming
// of its own, which comes with families of its own.
inline constexpr std::string_view kHuggingFaceNaming = "huggingface";
inline constexpr std::string_view kGgufNaming = "gguf";

struct ModelDescription {
  std::string architecture;  // as the files call it: "llama"
  std::string naming;
  std::shared_ptr<const Settings> settings;  // config.json, GGUF's metadata
  // What its makers suggest for generating (generation_config.json); null where they don't.
  std::shared_ptr<const Settings> generation = nullptr;
  // Keys in `generation` and `settings` of the tokens that end an answer.
  std::vector<std::string> end_keys = {};
};

// By config.json ("model_type") and generation_config.json. UserError where the architecture is
// missing.
LUMINAL_API ModelDescription describe_model(const Config& config,
                                            const std::optional<Config>& generation = std::nullopt);
// By the metadata ("general.architecture"). UserError as above.
LUMINAL_API ModelDescription describe_model(const Gguf& file);

}  // namespace luminal
