// What files say about a model of the Llama family: its configuration, and the names of its
// weights.
#pragma once

#include <string>

#include "luminal/base/visibility.h"
#include "luminal/io/config.h"
#include "luminal/io/gguf.h"
#include "luminal/io/settings.h"
#include "luminal/io/weight_source.h"
#include "luminal/llm/models/llama/llama.h"

namespace luminal::llm {

// From config.json, or settings with its keys. UserError that names the key that is missing or
// can't be.
LUMINAL_API LlamaConfig llama_config(const Settings& config);
// From a GGUF file, or settings with the keys of its metadata; the weights say what these leave
// out.
LUMINAL_API LlamaConfig llama_config(const Gguf& file);
LUMINAL_API LlamaConfig llama_gguf_config(const Settings& metadata, const WeightSource& weights);

// What a GGUF file calls a weight: "model.layers.0.self_attn.q_proj.weight" is
// "blk.0.attn_q.weight"; for LoadOptions::rename.
LUMINAL_API std::string llama_gguf_name(const std::string& weight);

}  // namespace luminal::llm
