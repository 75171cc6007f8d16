// Input and output of language model benchmarks: a fixed prompt, and greedy decoding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "luminal/text/token_id.h"

namespace luminal::bench {

inline TokenId likeliest(std::span<const float> logits) {
  return static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin());
}

// Tokens spread over the vocabulary; generation.py feeds other frameworks the same.
inline std::vector<TokenId> spread_prompt(int64_t length, int64_t vocabulary) {
  std::vector<TokenId> ids;
  for (int64_t k = 0; k < length; ++k) {
    ids.push_back(static_cast<TokenId>((7919 * (k + 1)) % vocabulary));
  }
  return ids;
}

}  // namespace luminal::bench
