#include "luminal/llm/models/bert/bert.h"

#include <fmt/format.h>

#include "luminal/graph/composite/activation.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/llm/config_checks.h"
#include "luminal/nn/attention.h"
#include "luminal/nn/linear.h"
#include "luminal/nn/norm.h"

namespace luminal::llm {
namespace {

constexpr ConfigChecks kBertChecks("bert");

Tensor activated(const Tensor& x, BertActivation activation) {
  switch (activation) {
    case BertActivation::Gelu:
      return gelu(x);
    case BertActivation::GeluTanh:
      return gelu(x, GeluApproximation::Tanh);
    case BertActivation::Relu:
      return relu(x);
    case BertActivation::Silu:
      return silu(x);
  }
  return x;
}

class BertBuilder {
 public:
  explicit BertBuilder(const BertConfig& config) : config_(config) {}

  Tensor embeddings(const nn::Scope& scope, const Tensor& ids) const {
    const auto rows = [&](const char* table, const Tensor& index, int64_t n) {
      return nn::embedding(scope.child(table), index, n, config_.features);
    };
    const Tensor positions = arange(scope.graph(), ids.dim(0));
    const Tensor types = positions * 0;
    const Tensor x = rows("word_embeddings", ids, config_.vocab_size) +
                     rows("token_type_embeddings", types, config_.types) +
                     rows("position_embeddings", positions, config_.positions);
    return norm(scope, x);
  }

  Tensor layer(const nn::Scope& scope, const Tensor& x) const {
    const Tensor attended =
        nn::self_attention(scope.child("attention"), x, static_cast<int>(config_.heads),
                           {.names = {"self.query", "self.key", "self.value", "output.dense"}});
    const Tensor seen = norm(scope.child("attention.output"), attended + x);
    const Tensor hidden = activated(
        nn::linear(scope.child("intermediate.dense"), seen, config_.hidden), config_.activation);
    return norm(scope.child("output"),
                nn::linear(scope.child("output.dense"), hidden, config_.features) + seen);
  }

 private:
  Tensor norm(const nn::Scope& scope, const Tensor& x) const {
    return nn::layer_norm(scope.child("LayerNorm"), x, {.eps = config_.norm_eps});
  }

  const BertConfig& config_;
};

}  // namespace

void check(const BertConfig& config) {
  kBertChecks.size("the vocabulary's size", config.vocab_size, 1 << 24);
  kBertChecks.size("the number of positions", config.positions, 1 << 24);
  kBertChecks.size("the number of sentence types", config.types, 1 << 16);
  kBertChecks.size("the number of features", config.features, 1 << 20);
  kBertChecks.size("the number of hidden features", config.hidden, 1 << 22);
  kBertChecks.size("the number of layers", config.layers, 1 << 12);
  kBertChecks.size("the number of heads", config.heads, 1 << 14);
  if (config.features % config.heads != 0) {
    kBertChecks.fail(
        fmt::format("{} features don't divide into {} heads", config.features, config.heads));
  }
  kBertChecks.positive("the norm's epsilon", config.norm_eps);
}

Tensor build_bert(const nn::Scope& scope, const Tensor& ids, const BertConfig& config) {
  check(config);
  const BertBuilder builder(config);
  Tensor x = builder.embeddings(scope.child("embeddings"), ids);
  const nn::Scope layers = scope.child("encoder.layer");
  for (int64_t i = 0; i < config.layers; ++i) {
    x = builder.layer(layers.child(static_cast<int>(i)), x);
  }
  return x;
}

}  // namespace luminal::llm
