// The Llama family's entries in Families: "llama" and "mistral".
#pragma once

#include "luminal/llm/families.h"

namespace luminal::llm {

void add_llama(Families& families);

}  // namespace luminal::llm
