#include "luminal/io/model_description.h"

namespace luminal {

ModelDescription describe_model(const Config& config, const std::optional<Config>& generation) {
  ModelDescription description{.architecture = config.text_at("model_type"),
                               .naming = std::string(kHuggingFaceNaming),
                               .settings = std::make_shared<const Config>(config),
                               .end_keys = {"eos_token_id"}};
  if (generation) description.generation = std::make_shared<const Config>(*generation);
  return description;
}

ModelDescription describe_model(const Gguf& file) {
  return {.architecture = file.text_at("general.architecture"),
          .naming = std::string(kGgufNaming),
          .settings = std::make_shared<const Gguf>(file),
          .end_keys = {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"}};
}

}  // namespace luminal
