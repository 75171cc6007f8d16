// Frequencies of rotary embeddings, and how models stretch them to longer contexts.
#pragma once

#include <cstdint>
#include <vector>

#include "luminal/base/visibility.h"

namespace luminal::nn {

enum class RopeKind : uint8_t {
  Plain,
  Linear,  // all frequencies divided by the factor
  Llama3,  // the slow ones divided, the fast ones kept, those between blended
  Yarn,    // the same idea, blended by how often a pair turns; what is turned is also scaled
};

// Defaults are those of Hugging Face's configurations.
struct RopeScaling {
  RopeKind kind = RopeKind::Plain;
  double factor = 1;
  int64_t original_context = 8192;   // that the model was first trained with
  double low_frequency_factor = 1;   // Llama3
  double high_frequency_factor = 4;  // Llama3
  double beta_fast = 32;             // Yarn
  double beta_slow = 1;              // Yarn
  double attention_factor = 0;       // Yarn; 0: 0.1 · ln(factor) + 1
};

// Radians per position of each of the head_size / 2 pairs.
LUMINAL_API std::vector<float> rope_frequencies(int64_t head_size, double theta,
                                                const RopeScaling& scaling = {});
// What queries and keys are multiplied with beside being turned.
LUMINAL_API double rope_magnitude(const RopeScaling& scaling);

}  // namespace luminal::nn
