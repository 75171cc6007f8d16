#include "luminal/llm/models/llama/llama_family.h"

#include "luminal/llm/models/llama/llama_files.h"

namespace luminal::llm {
namespace {

Decoder llama_decoder(const LlamaConfig& config) {
  return {.architecture = {},
          .vocab_size = config.vocab_size,
          .context = config.context,
          .lookup_table = config.tied ? "" : "model.embed_tokens.weight",
          .build = [config](const nn::Scope& scope, const DecoderOptions& options) {
            return build_llama(scope, config, options);
          }};
}

// Its weights have the graph's names.
Decoder llama_of_huggingface(const ModelFiles& files) {
  return llama_decoder(llama_config(*files.description.settings));
}

Decoder llama_of_gguf(const ModelFiles& files) {
  Decoder decoder = llama_decoder(llama_gguf_config(*files.description.settings, *files.weights));
  decoder.name_in_file = [](const WeightSource&, const std::string& weight) {
    return llama_gguf_name(weight);
  };
  return decoder;
}

}  // namespace

void add_llama(Families& families) {
  const std::string huggingface(kHuggingFaceNaming), gguf(kGgufNaming);
  families.add(DecoderFamily{"llama", huggingface, llama_of_huggingface});
  families.add(DecoderFamily{"mistral", huggingface, llama_of_huggingface});  // "llama" in GGUF
  families.add(DecoderFamily{"llama", gguf, llama_of_gguf});
}

}  // namespace luminal::llm
