// BERT's encoder with Hugging Face's names, made of nn pieces: what minilm_test runs.
#pragma once

#include "luminal/graph/composite/activation.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/indexing.h"
#include "luminal/nn/attention.h"
#include "luminal/nn/linear.h"
#include "luminal/nn/norm.h"

namespace luminal {

struct BertConfig {
  int64_t vocabulary = 30522;
  int64_t positions = 512;
  int64_t types = 2;
  int64_t features = 384;
  int64_t feedforward = 1536;
  int layers = 6;
  int heads = 12;
  double eps = 1e-12;
};

// The last hidden states [s, features] of token ids [s], all of one sentence.
inline Tensor bert_encoder(const nn::Scope& scope, const Tensor& ids, const BertConfig& config) {
  auto norm = [&](const nn::Scope& s, const Tensor& x) {
    return nn::layer_norm(s.child("LayerNorm"), x, {.eps = config.eps});
  };
  nn::Scope embed = scope.child("embeddings");
  Tensor positions = arange(scope.graph(), ids.dim(0));
  Tensor types = positions * 0;
  Tensor x = nn::embedding(embed.child("word_embeddings"), ids, config.vocabulary, config.features);
  x += nn::embedding(embed.child("token_type_embeddings"), types, config.types, config.features);
  x += nn::embedding(embed.child("position_embeddings"), positions, config.positions,
                     config.features);
  x = norm(embed, x);
  for (int i = 0; i < config.layers; ++i) {
    nn::Scope layer = scope.child("encoder.layer").child(i);
    Tensor attended =
        nn::self_attention(layer.child("attention"), x, config.heads,
                           {.names = {"self.query", "self.key", "self.value", "output.dense"}});
    x = norm(layer.child("attention.output"), attended + x);
    Tensor hidden = gelu(nn::linear(layer.child("intermediate.dense"), x, config.feedforward));
    x = norm(layer.child("output"),
             nn::linear(layer.child("output.dense"), hidden, config.features) + x);
  }
  return x;
}

}  // namespace luminal
