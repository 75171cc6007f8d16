// Finds a model among the families there are: one line each in list.cpp.
#pragma once

#include "luminal/base/visibility.h"
#include "luminal/io/config.h"
#include "luminal/io/gguf.h"
#include "luminal/llm/decoder.h"
#include "luminal/llm/encoder.h"

namespace luminal::llm {

// The model that writes text which a config.json ("model_type") or a GGUF file
// ("general.architecture") describes, as known_families() has it. UserErrors as of
// Families::decoder.
LUMINAL_API Decoder find_decoder(const Config& config);
LUMINAL_API Decoder find_decoder(const Gguf& file);

// The same for models that give embeddings.
LUMINAL_API Encoder find_encoder(const Config& config);

}  // namespace luminal::llm
