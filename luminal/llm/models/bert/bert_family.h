// BERT's entry in Families.
#pragma once

#include "luminal/llm/families.h"

namespace luminal::llm {

void add_bert(Families& families);

}  // namespace luminal::llm
