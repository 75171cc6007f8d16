#include "luminal/llm/models/list.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/llm/llama_files.h"

namespace luminal::llm {
namespace {

Decoder llama_decoder(const LlamaConfig& config) {
  return {.architecture = {},
          .vocab_size = config.vocab_size,
          .context = config.context,
          .lookup_table = config.tied ? "" : "model.embed_tokens.weight",
          .build =
              [config](const nn::Scope& scope, const DecoderOptions& options) {
                return build_llama(scope, config, options);
              },
          .gguf_name = llama_gguf_name};
}

Decoder llama_of_config(const Config& config) { return llama_decoder(llama_config(config)); }
Decoder llama_of_gguf(const Gguf& file) { return llama_decoder(llama_config(file)); }

struct ModelEntry {
  std::string_view architecture;
  Decoder (*of_config)(const Config&);  // null: Hugging Face has none of this name
  Decoder (*of_gguf)(const Gguf&);      // null: GGUF has none of this name
};

constexpr ModelEntry kModels[] = {
    {"llama", llama_of_config, llama_of_gguf},
    {"mistral", llama_of_config, nullptr},  // "llama" in GGUF
};

// The function of the entry's that reads this kind of file.
template <typename Source, typename Function>
Decoder find(const Source& source, std::string_view architecture, Function ModelEntry::* of) {
  std::vector<std::string_view> names;
  for (const ModelEntry& entry : kModels) {
    if (entry.*of == nullptr) continue;
    if (entry.architecture != architecture) {
      names.push_back(entry.architecture);
      continue;
    }
    Decoder decoder = (entry.*of)(source);
    decoder.architecture = architecture;
    return decoder;
  }
  throw UserError(fmt::format(
      "'{}' is a model of the architecture '{}', which isn't supported; those that are: {}",
      source.name(), architecture, fmt::join(names, ", ")));
}

}  // namespace

Decoder find_decoder(const Config& config) {
  return find(config, config.text_at("model_type"), &ModelEntry::of_config);
}

Decoder find_decoder(const Gguf& file) {
  return find(file, file.text_at("general.architecture"), &ModelEntry::of_gguf);
}

}  // namespace luminal::llm
