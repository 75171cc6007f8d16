#include "luminal/llm/models/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/llm/models/bert/bert_files.h"
#include "luminal/llm/models/llama/llama_files.h"

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

Encoder bert_of_config(const Config& config) {
  const BertConfig bert = bert_config(config);
  return {.architecture = {},
          .vocab_size = bert.vocab_size,
          .context = bert.positions,
          .features = bert.features,
          .build = [bert](const nn::Scope& scope,
                          const Tensor& ids) { return build_bert(scope, ids, bert); },
          .name_in_file = bert_name_in_file};
}

struct EncoderEntry {
  std::string_view architecture;
  Encoder (*of_config)(const Config&);
};

constexpr EncoderEntry kEncoders[] = {
    {"bert", bert_of_config},
};

template <typename Entry, size_t n>
bool lists(const Entry (&entries)[n], std::string_view architecture) {
  return std::ranges::find(entries, architecture, &Entry::architecture) != std::end(entries);
}

// The function of the entry's that reads this kind of file. `elsewhere` says who takes a model that
// isn't among these; empty for one that nobody does.
template <typename Entry, size_t n, typename Source, typename Function>
auto find(const Entry (&entries)[n], const Source& source, std::string_view architecture,
          Function Entry::* of, std::string_view elsewhere) {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries) {
    if (entry.*of == nullptr) continue;
    if (entry.architecture != architecture) {
      names.push_back(entry.architecture);
      continue;
    }
    auto found = (entry.*of)(source);
    found.architecture = architecture;
    return found;
  }
  const std::string what =
      fmt::format("'{}' is a model of the architecture '{}', ", source.name(), architecture);
  if (!elsewhere.empty()) throw UserError(what + std::string(elsewhere));
  throw UserError(what +
                  fmt::format("which isn't supported; those that are: {}", fmt::join(names, ", ")));
}

std::string_view as_encoder(std::string_view architecture) {
  if (!lists(kEncoders, architecture)) return {};
  return "which gives embeddings, not text: use `luminal embed` or llm::Embedder, with its folder "
         "in Hugging Face's layout";
}

std::string_view as_decoder(std::string_view architecture) {
  if (!lists(kModels, architecture)) return {};
  return "which writes text and gives no embeddings: use `luminal run`, `luminal chat` or "
         "llm::Session; a BERT model embeds";
}

}  // namespace

Decoder find_decoder(const Config& config) {
  const std::string name = config.text_at("model_type");
  return find(kModels, config, name, &ModelEntry::of_config, as_encoder(name));
}

Decoder find_decoder(const Gguf& file) {
  const std::string_view name = file.text_at("general.architecture");
  return find(kModels, file, name, &ModelEntry::of_gguf, as_encoder(name));
}

Encoder find_encoder(const Config& config) {
  const std::string name = config.text_at("model_type");
  return find(kEncoders, config, name, &EncoderEntry::of_config, as_decoder(name));
}

}  // namespace luminal::llm
