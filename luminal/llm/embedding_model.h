// EmbeddingModel: a text encoder from its folder, with all that embeddings need beside the graph.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "luminal/base/visibility.h"
#include "luminal/llm/encoder.h"
#include "luminal/llm/families.h"
#include "luminal/llm/pooling.h"
#include "luminal/text/tokenizer.h"

namespace luminal::llm {

// What a run takes and gives.
struct EmbeddingGraph {
  Expr s;            // the variable "s": tokens of the text
  Tensor ids;        // the input "ids", i32 [s]
  Tensor embedding;  // the output "embedding", f32 [features]
};

// A cheap handle: copies share what was read. Weights stay in the mapped files until they are
// needed.
class LUMINAL_API EmbeddingModel {
 public:
  // A folder in Hugging Face's layout, or what a format that was added to the options takes.
  // UserError that names the fault and the way out for a path, an architecture or a file that can't
  // be used.
  static EmbeddingModel open(const std::string& path, const OpenOptions& options = {});

  const std::string& path() const;
  const Encoder& encoder() const;
  const Tokenizer& tokenizer() const;
  const Pooling& pooling() const;
  // Whether the model's files say how to pool; otherwise it is the mean, as it is for
  // sentence-transformers.
  bool states_pooling() const;
  // The most tokens of a text, with the special ones around it.
  int64_t longest() const;
  double load_seconds() const;

  // Adds the model to a graph and binds its weights to the files. Computes in `dtype`, f32 or bf16.
  EmbeddingGraph build(Graph& graph, DType dtype) const;

 private:
  struct Contents;
  explicit EmbeddingModel(std::shared_ptr<const Contents> contents);

  std::shared_ptr<const Contents> contents_;
};

}  // namespace luminal::llm
