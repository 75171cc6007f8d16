// Small widths, real layer counts: the graphs whose random plans are run.
#pragma once

#include <functional>
#include <string>

#include "luminal/llm/models/bert/bert.h"
#include "luminal/llm/models/llama/llama.h"
#include "luminal/luminal.h"

namespace luminal {

struct ModelCase {
  std::string name;
  std::function<void(Graph&)> build;
  Bindings sizes;
};

inline void build_small_llama(Graph& graph, int64_t layers, DType dtype) {
  llm::build_llama(nn::Scope(graph, "", dtype), {.vocab_size = 48,
                                                 .features = 16,
                                                 .hidden = 24,
                                                 .layers = layers,
                                                 .heads = 2,
                                                 .kv_heads = 1,
                                                 .head_size = 8,
                                                 .context = 16});
}

inline void build_small_resnet(Graph& graph, int blocks) {
  Tensor x = graph.input("x", {1, 4, 9, 9});
  for (int b = 0; b < blocks; ++b) {
    const Tensor first = graph.weight("a" + std::to_string(b), {4, 4, 3, 3});
    const Tensor second = graph.weight("b" + std::to_string(b), {4, 4, 3, 3});
    const Tensor inner = relu(conv2d(x, first, std::nullopt, {.padding = 1}));
    x = relu(x + conv2d(inner, second, std::nullopt, {.padding = 1}));
  }
  x.output("y");
}

inline std::vector<ModelCase> model_cases() {
  const auto bert = [](Graph& graph) {
    const Expr s = Expr::var("s", 1, 16);
    llm::build_bert(nn::Scope(graph), graph.input("ids", {s}, DType::I32),
                    {.vocab_size = 32, .features = 16, .hidden = 32, .layers = 12, .heads = 2})
        .output("y");
  };
  return {
      {"llama f32, 30 layers, prompt",
       [](Graph& g) { build_small_llama(g, 30, DType::F32); },
       {{"s", 5}, {"past", 0}}},
      {"llama bf16, 30 layers, one token",
       [](Graph& g) { build_small_llama(g, 30, DType::BF16); },
       {{"s", 1}, {"past", 3}}},
      {"bert, 12 layers", bert, {{"s", 7}}},
      {"resnet, 8 blocks", [](Graph& g) { build_small_resnet(g, 8); }, {}},
  };
}

}  // namespace luminal
