#include "luminal/llm/models/bert/bert_family.h"

#include "luminal/llm/models/bert/bert_files.h"

namespace luminal::llm {
namespace {

Encoder bert_of_huggingface(const ModelFiles& files) {
  const BertConfig bert = bert_config(*files.description.settings);
  return {.architecture = {},
          .vocab_size = bert.vocab_size,
          .context = bert.positions,
          .features = bert.features,
          .build = [bert](const nn::Scope& scope,
                          const Tensor& ids) { return build_bert(scope, ids, bert); },
          .name_in_file = bert_name_in_file};
}

}  // namespace

void add_bert(Families& families) {
  families.add(EncoderFamily{"bert", std::string(kHuggingFaceNaming), bert_of_huggingface});
}

}  // namespace luminal::llm
