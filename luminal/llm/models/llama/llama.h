// The Llama family: Llama 2 and 3, SmolLM2, Mistral and others of the same blocks.
//
// Weights have Hugging Face's names; llm/models/llama/llama_files.h says what files call them.
#pragma once

#include <cstdint>
#include <optional>

#include "luminal/base/visibility.h"
#include "luminal/graph/composite/rotary.h"
#include "luminal/llm/decoder.h"
#include "luminal/nn/rope.h"
#include "luminal/nn/scope.h"

namespace luminal::llm {

struct LlamaConfig {
  int64_t vocab_size = 0;
  int64_t features = 0;
  int64_t hidden = 0;  // of the feed-forward layers
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_size = 0;
  int64_t context = 0;  // the most positions the model is made for
  double norm_eps = 1e-5;
  double rope_theta = 10000;
  nn::RopeScaling rope_scaling = {};
  bool rope_factors = false;  // the weight "rope_freqs.weight" divides the frequencies
  RotaryPairs rope_pairs = RotaryPairs::Halves;
  std::optional<int64_t> window = std::nullopt;  // keys that a query sees, of those up to it
  bool tied = false;                             // the last layer is the embedding's table
  bool attention_bias = false;
  bool feed_forward_bias = false;
};

// UserError that names what can't be: a size that isn't positive or is absurd, heads that don't
// divide.
LUMINAL_API void check(const LlamaConfig& config);

// Adds the model to the scope's graph.
LUMINAL_API DecoderGraph build_llama(const nn::Scope& scope, const LlamaConfig& config,
                                     const DecoderOptions& options = {});

}  // namespace luminal::llm
