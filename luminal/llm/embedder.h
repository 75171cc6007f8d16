// Embedder: a text encoder compiled, which turns texts into vectors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/driver/compile.h"
#include "luminal/llm/embedding_model.h"
#include "luminal/text/token_id.h"

namespace luminal::llm {

struct EmbedderOptions {
  DType dtype = DType::F32;  // that is computed in: f32 or bf16
  // Threads, cache folder, report, progress …; typical sizes are the embedder's own.
  CompileOptions compile = {};
};

struct Embedding {
  std::vector<float> values;
  int64_t tokens = 0;  // of the whole text, with the special ones around it
  int64_t read = 0;    // of them, by the model: fewer where the text is too long for it
};

// One executable serves texts of any length.
class LUMINAL_API Embedder {
 public:
  explicit Embedder(const EmbeddingModel& model, const EmbedderOptions& options = {});
  Embedder(Embedder&&) noexcept;
  Embedder& operator=(Embedder&&) noexcept;
  ~Embedder();

  // Of a text that is too long the beginning counts, and what the tokenizer puts around it.
  Embedding embed(std::string_view text);
  // Of tokens as they are. UserError when there are none or more than the model reads, and for an
  // id that isn't in the vocabulary.
  std::vector<float> embed(std::span<const TokenId> ids);

  const EmbeddingModel& model() const;
  double compile_seconds() const;
  int64_t weight_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The cosine of the angle between two embeddings; 0 where one of them is all zeros. UserError when
// their sizes differ.
LUMINAL_API double cosine(std::span<const float> a, std::span<const float> b);

}  // namespace luminal::llm
