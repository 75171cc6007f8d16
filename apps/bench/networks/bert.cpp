// BERT-base's encoder (Devlin et al. 2019) on 128 tokens. Tensat's has eight layers of 1024
// features that are attention alone.
#include <algorithm>

#include "apps/bench/networks/builders.h"
#include "luminal/llm/models/bert/bert.h"

namespace luminal::bench {

Tensor bert_base(Graph& graph, const NetworkSize& size) {
  llm::BertConfig config;
  config.vocab_size /= size.narrower;
  config.features /= size.narrower;
  config.hidden /= size.narrower;
  config.layers = std::min<int64_t>(config.layers, size.repeats);
  const Tensor ids = graph.input("x", {size.pixels > 0 ? size.pixels : 128}, DType::I32);
  return llm::build_bert(nn::Scope(graph), ids, config).output("y");
}

}  // namespace luminal::bench
