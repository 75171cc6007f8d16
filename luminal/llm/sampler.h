// Sampler: the next token from a model's logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "luminal/base/visibility.h"
#include "luminal/text/token_id.h"

namespace luminal::llm {

// Applied in this order, which is that of transformers:
//   1. the repetition penalty, to the logits of tokens seen so far, each once;
//   2. the temperature, which divides them; 0 takes the largest, and the rest doesn't matter;
//   3. top-k, then top-p, then min-p, each of what the one before left.
// Where logits are equal, the smaller id comes first.
struct SamplingOptions {
  double temperature = 0;     // 0: greedy
  int64_t top_k = 0;          // keeps the k most likely; 0: all
  double top_p = 1;           // keeps the fewest most likely that together have this much; 1: all
  double min_p = 0;           // keeps those at least this likely, relative to the likeliest; 0: all
  double repeat_penalty = 1;  // divides positive logits, multiplies negative ones; 1: none
  uint64_t seed = 1;
};

// Where a model's makers suggest nothing: varied, and seldom nonsense.
inline constexpr SamplingOptions kUsualSampling{.temperature = 0.7, .top_p = 0.95, .min_p = 0.05};

// UserError that names what can't be.
LUMINAL_API void check(const SamplingOptions& options);

// The same options, tokens seen and logits give the same tokens, on every machine.
class LUMINAL_API Sampler {
 public:
  explicit Sampler(const SamplingOptions& options);

  // Tokens that the penalty is for; those it chose itself are among them.
  void see(std::span<const TokenId> ids);
  // UserError when no logit is a number.
  TokenId next(std::span<const float> logits);

 private:
  double uniform();  // from 0 to 1, without 1
  TokenId draw(std::span<const float> logits);

  SamplingOptions options_;
  uint64_t state_;
  std::vector<bool> seen_;
  std::vector<float> penalised_;
};

}  // namespace luminal::llm
