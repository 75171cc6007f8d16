// BERT's encoder, and that of models with the same blocks, as MiniLM.
//
// Weights have Hugging Face's names; llm/models/bert/bert_files.h says what files call them.
#pragma once

#include <cstdint>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"
#include "luminal/nn/scope.h"

namespace luminal::llm {

enum class BertActivation : uint8_t { Gelu, GeluTanh, Relu, Silu };

// The sizes are those of BERT-base unless given.
struct BertConfig {
  int64_t vocab_size = 30522;
  int64_t positions = 512;
  int64_t types = 2;  // kinds of sentences; a text is of the first
  int64_t features = 768;
  int64_t hidden = 3072;  // of the feed-forward layers
  int64_t layers = 12;
  int64_t heads = 12;
  double norm_eps = 1e-12;
  BertActivation activation = BertActivation::Gelu;
};

// UserError that names what can't be: a size that isn't positive or is absurd, heads that don't
// divide.
LUMINAL_API void check(const BertConfig& config);

// The last hidden states [s, features] of token ids [s], all of one text. Texts aren't padded to
// one length, so there is no mask: every token sees every other.
LUMINAL_API Tensor build_bert(const nn::Scope& scope, const Tensor& ids, const BertConfig& config);

}  // namespace luminal::llm
