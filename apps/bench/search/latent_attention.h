// Multi-head latent attention, as in DeepSeek's models: one token attends to a cache of latents, of
// which every head's keys and values are products with weights.
#pragma once

#include "luminal/luminal.h"

namespace luminal {

struct LatentShape {
  int64_t tokens = 4096;  // cached
  int64_t heads = 16;
  int64_t width = 128;  // of a head's keys and values
  int64_t latent = 512;
  int64_t rotary = 64;  // of the key part that all heads share, with positions
  int64_t features = 2048;
};

// From the token's state "x" to the layer's result "y". By definition, or with the weights of keys
// absorbed into the query and those of values into the result.
void add_latent_attention(Graph& graph, const LatentShape& shape, bool absorbed);

}  // namespace luminal
