// Model: a language model from its file or folder, with all that generation needs beside the graph.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/llm/decoder.h"
#include "luminal/llm/families.h"
#include "luminal/llm/sampler.h"
#include "luminal/text/chat_template.h"
#include "luminal/text/tokenizer.h"

namespace luminal::llm {

// A cheap handle: copies share what was read. Weights stay in the mapped files until they are
// needed.
class LUMINAL_API Model {
 public:
  // A GGUF file, a folder in Hugging Face's layout, or what a format of the options takes.
  // UserError that names the fault and the way out for a path, an architecture or a file that can't
  // be used.
  static Model open(const std::string& path, const OpenOptions& options = {});

  const std::string& path() const;
  const Decoder& decoder() const;
  const Tokenizer& tokenizer() const;
  // None for a model that only continues text.
  const std::optional<ChatTemplate>& chat_template() const;
  // Tokens that end an answer, sorted.
  const std::vector<TokenId>& end_ids() const;
  // What the model's makers suggest (generation_config.json); kUsualSampling where they don't.
  const SamplingOptions& sampling() const;
  double load_seconds() const;

  // Adds the model to a graph and binds its weights to the files. Computes in `dtype`, f32 or bf16.
  // Quantised weights stay as they are, others become that.
  DecoderGraph build(Graph& graph, DType dtype, const DecoderOptions& options) const;

 private:
  struct Contents;
  explicit Model(std::shared_ptr<const Contents> contents);

  std::shared_ptr<const Contents> contents_;
};

// Whether Model::open would take the path for a model: a folder, a file that begins as GGUF does,
// or one that another of the formats takes.
LUMINAL_API bool looks_like_model(const std::string& path,
                                  const FileFormats& formats = known_formats());

}  // namespace luminal::llm
