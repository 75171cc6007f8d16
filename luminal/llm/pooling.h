// Pooling: how the embedding of a text comes of the states of its tokens.
#pragma once

#include <cstdint>
#include <string>

#include "luminal/base/visibility.h"
#include "luminal/graph/tensor.h"

namespace luminal::llm {

enum class PoolingMode : uint8_t {
  Mean,   // of all tokens, the special ones around the text included
  First,  // the state of the first token, which many models train for this
  Max,    // of each feature
};

struct Pooling {
  PoolingMode mode = PoolingMode::Mean;
  bool unit_length = false;  // scaled to length 1
};
// In words: "the mean of all tokens, of length 1".
LUMINAL_API std::string text(const Pooling& pooling);

// The embedding [features], f32, of states [s, features].
LUMINAL_API Tensor pool(const Tensor& states, const Pooling& pooling);

}  // namespace luminal::llm
