#include "luminal/llm/models/list.h"

#include <memory>

#include "luminal/llm/families.h"
#include "luminal/llm/models/bert/bert_family.h"
#include "luminal/llm/models/llama/llama_family.h"

namespace luminal::llm {

Families known_families() {
  Families families;
  add_llama(families);
  add_bert(families);
  return families;
}

Decoder find_decoder(const Config& config) {
  return known_families().decoder({.description = describe_model(config)});
}

Decoder find_decoder(const Gguf& file) {
  return known_families().decoder(
      {.description = describe_model(file), .weights = std::make_shared<const Gguf>(file)});
}

Encoder find_encoder(const Config& config) {
  return known_families().encoder({.description = describe_model(config)});
}

}  // namespace luminal::llm
