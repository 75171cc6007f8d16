// The Llama family: Llama 2 and 3, SmolLM2, Mistral and others of the same blocks.
//
// Weights have Hugging Face's names; llm/llama_files.h says what files call them.
#pragma once

#include <cstdint>
#include <optional>

#include "luminal/base/visibility.h"
#include "luminal/graph/composite/rotary.h"
#include "luminal/graph/tensor.h"
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

struct LlamaOptions {
  int64_t room = 0;           // tokens the kv cache holds; 0: config.context
  int64_t longest_chunk = 0;  // the most tokens of one run; 0: room
  bool every_logit = false;   // of every token, not only of the last
  DType cache = DType::F32;   // that keys and values are held in
};

// What a run takes and gives: the variables "s" (tokens of this run) and "past" (tokens before it,
// which the cache holds).
struct LlamaGraph {
  Expr s, past;
  Tensor ids;     // the input "ids", i32 [s]
  Tensor logits;  // the output "logits", f32 [1, vocab] or [s, vocab]
};

// Adds the model to the scope's graph. Its kv cache is state: runs one after another, each with the
// tokens that follow, are one sequence; with past = 0 a new one begins.
LUMINAL_API LlamaGraph build_llama(const nn::Scope& scope, const LlamaConfig& config,
                                   const LlamaOptions& options = {});

}  // namespace luminal::llm
