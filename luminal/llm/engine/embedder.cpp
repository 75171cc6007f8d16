#include "luminal/llm/embedder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "luminal/base/errors.h"
#include "luminal/base/os/memory.h"

namespace luminal::llm {
namespace {

constexpr int64_t kTypicalText = 32;  // tokens: a sentence or two

}  // namespace

struct Embedder::Impl {
  Impl(const EmbeddingModel& of, const EmbedderOptions& options)
      : model(of), made(model.build(graph, options.dtype)), exe(compiled(options)) {
    for (NodeId leaf : graph.leaves()) {
      const Node& node = graph.node(leaf);
      if (node.as<InputAttr>().role != Role::Weight) continue;
      weight_bytes += byte_size(node.dtype, n_elements(node.dims).to_int().value_or(0));
    }
  }

  Executable compiled(const EmbedderOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    CompileOptions compile_options = options.compile;
    compile_options.plan.typical_sizes = {{"s", std::min(model.longest(), kTypicalText)}};
    Executable compiled = compile(graph, compile_options);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    compile_seconds = taken.count();
    return compiled;
  }

  void check(std::span<const TokenId> ids) const {
    if (ids.empty()) throw UserError("an embedding needs at least one token");
    if (static_cast<int64_t>(ids.size()) > model.longest()) {
      throw UserError(
          fmt::format("the text has {} tokens, and the model reads {} at most; shorten "
                      "it, or divide it",
                      ids.size(), model.longest()));
    }
    const int64_t vocabulary = model.encoder().vocab_size;
    for (TokenId id : ids) {
      if (id >= 0 && id < vocabulary) continue;
      throw UserError(
          fmt::format("token {} isn't in the model's vocabulary of {}", id, vocabulary));
    }
  }

  EmbeddingModel model;
  Graph graph;
  EmbeddingGraph made;
  double compile_seconds = 0;
  Executable exe;
  int64_t weight_bytes = 0;
  bool ran = false;
};

Embedder::Embedder(const EmbeddingModel& model, const EmbedderOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}
Embedder::Embedder(Embedder&&) noexcept = default;
Embedder& Embedder::operator=(Embedder&&) noexcept = default;
Embedder::~Embedder() = default;

Embedding Embedder::embed(std::string_view text) {
  const Tokenizer& tokenizer = impl_->model.tokenizer();
  std::vector<TokenId> ids = tokenizer.encode(text);
  Embedding made;
  made.tokens = static_cast<int64_t>(ids.size());
  if (made.tokens > impl_->model.longest()) {
    ids = tokenizer.encode(text, {.longest = static_cast<size_t>(impl_->model.longest())});
  }
  made.read = static_cast<int64_t>(ids.size());
  made.values = embed(ids);
  return made;
}

std::vector<float> Embedder::embed(std::span<const TokenId> ids) {
  impl_->check(ids);
  impl_->exe.set(impl_->made.ids, ids);
  impl_->exe.run({{"s", static_cast<int64_t>(ids.size())}});
  // What the plan keeps of weights in a form of its own is made by its first run.
  if (!std::exchange(impl_->ran, true)) {
    impl_->exe.release_folded();
    base::return_freed_memory();
  }
  return impl_->exe.get<float>(impl_->made.embedding);
}

const EmbeddingModel& Embedder::model() const { return impl_->model; }
double Embedder::compile_seconds() const { return impl_->compile_seconds; }
int64_t Embedder::weight_bytes() const { return impl_->weight_bytes; }

double cosine(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) {
    throw UserError(
        fmt::format("cosine: the embeddings have {} and {} features; they must be of one model",
                    a.size(), b.size()));
  }
  double product = 0, squares_a = 0, squares_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    product += double{a[i]} * b[i];
    squares_a += double{a[i]} * a[i];
    squares_b += double{b[i]} * b[i];
  }
  const double lengths = std::sqrt(squares_a) * std::sqrt(squares_b);
  return lengths > 0 ? product / lengths : 0;
}

}  // namespace luminal::llm
