// Frequencies of rotary position embeddings (RoPE), and their scaling to longer contexts.
#pragma once

#include <cstdint>
#include <vector>

#include "luminal/base/visibility.h"

namespace luminal::nn {

enum class RopeKind : uint8_t {
  Plain,
  Linear,  // all frequencies divided by the factor
  Llama3,  // low frequencies divided, high ones kept, those between interpolated
  Yarn,    // interpolated by the rotations of a pair within the context; also scales the result
};

// Defaults are those of Hugging Face's configurations.
struct RopeScaling {
  RopeKind kind = RopeKind::Plain;
  double factor = 1;
  int64_t original_context = 8192;   // of the first training
  double low_frequency_factor = 1;   // Llama3
  double high_frequency_factor = 4;  // Llama3
  double beta_fast = 32;             // Yarn
  double beta_slow = 1;              // Yarn
  double attention_factor = 0;       // Yarn; 0: 0.1 · ln(factor) + 1
};

// Radians per position of each of the head_size / 2 pairs.
LUMINAL_API std::vector<float> rope_frequencies(int64_t head_size, double theta,
                                                const RopeScaling& scaling = {});
// The factor of queries and keys beside the rotation (YaRN's attention factor).
LUMINAL_API double rope_magnitude(const RopeScaling& scaling);

}  // namespace luminal::nn
