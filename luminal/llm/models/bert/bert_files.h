// What files say about a BERT encoder: its configuration, and the names of its weights.
#pragma once

#include <string>

#include "luminal/base/visibility.h"
#include "luminal/io/config.h"
#include "luminal/io/settings.h"
#include "luminal/io/weight_source.h"
#include "luminal/llm/models/bert/bert.h"

namespace luminal::llm {

// From config.json, or settings with its keys. UserError that names the key that is missing or
// can't be.
LUMINAL_API BertConfig bert_config(const Settings& config);

// What a file calls a weight. Checkpoints that were trained with a head have "bert." before the
// encoder's names, and old ones call a norm's weight and bias gamma and beta.
LUMINAL_API std::string bert_name_in_file(const WeightSource& file, const std::string& weight);

}  // namespace luminal::llm
