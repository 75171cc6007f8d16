// What files say about a model of the Llama family: its configuration, and the names of its
// weights.
#pragma once

#include <string>

#include "luminal/base/visibility.h"
#include "luminal/io/config.h"
#include "luminal/io/gguf.h"
#include "luminal/llm/models/llama/llama.h"

namespace luminal::llm {

// From config.json. UserError that names the key that is missing or can't be.
LUMINAL_API LlamaConfig llama_config(const Config& config);
// From GGUF metadata.
LUMINAL_API LlamaConfig llama_config(const Gguf& file);

// What a GGUF file calls a weight: "model.layers.0.self_attn.q_proj.weight" is
// "blk.0.attn_q.weight"; for LoadOptions::rename.
LUMINAL_API std::string llama_gguf_name(const std::string& weight);

}  // namespace luminal::llm
