#include "apps/bench/search/search_graphs.h"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "apps/bench/harness/random_leaves.h"
#include "apps/bench/networks/networks.h"
#include "luminal/base/errors.h"
#include "luminal/llm/models/llama/llama.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

using Build = std::function<Bindings(Graph&)>;

Bindings softmax_norm(Graph& graph) {
  const Tensor x = graph.input("x", {512, 2048});
  const Tensor gain = graph.weight("gain", {2048});
  softmax(rms_norm(x + 1.0f, {2048}, gain), -1).output("y");
  return {};
}

Bindings swiglu(Graph& graph) {
  const nn::Scope scope(graph, "", DType::BF16);
  const Tensor x = graph.input("x", {8, 1024}, DType::BF16);
  const auto project = [&](const char* name, const Tensor& in, int64_t out) {
    return nn::linear(scope.child(name), in, out, {.bias = false});
  };
  const Tensor gated = silu(project("gate", x, 2816)) * project("up", x, 2816);
  (x + project("down", gated, 1024)).output("y");
  return {};
}

Bindings mlp(Graph& graph) {
  Tensor x = graph.input("x", {64, 784});
  const nn::Scope scope(graph);
  for (int layer = 0; layer < 3; ++layer) {
    x = gelu(nn::linear(scope.child(layer), x, layer == 2 ? 10 : 512));
  }
  softmax(x, -1).output("y");
  return {};
}

Tensor conv_unit(const nn::Scope& scope, const Tensor& x, int64_t out, int64_t kernel, int stride) {
  const int64_t in = x.dim(1).to_int().value();
  const Tensor w = scope.weight("weight", {out, in, kernel, kernel});
  const Tensor shift = scope.weight("shift", {out});
  return conv2d(x, w, shift, {.stride = stride, .padding = kernel / 2});
}

Bindings resnet18(Graph& graph) {
  const nn::Scope scope(graph);
  Tensor x = graph.input("x", {1, 3, 224, 224});
  x = relu(conv_unit(scope.child("stem"), x, 64, 7, 2));
  x = max_pool2d(x, 3, {.stride = 2, .padding = 1});
  for (int stage = 0; stage < 4; ++stage) {
    for (int block = 0; block < 2; ++block) {
      const nn::Scope of = scope.child(fmt::format("layer{}.{}", stage, block));
      const int64_t width = int64_t{64} << stage;
      const int stride = stage > 0 && block == 0 ? 2 : 1;
      const Tensor inner = relu(conv_unit(of.child("conv1"), x, width, 3, stride));
      const Tensor outer = conv_unit(of.child("conv2"), inner, width, 3, 1);
      const bool same = stride == 1 && x.dim(1).to_int() == width;
      x = relu(outer + (same ? x : conv_unit(of.child("shortcut"), x, width, 1, stride)));
    }
  }
  nn::linear(scope.child("fc"), mean(mean(x, -1), -1), 1000).output("y");
  return {};
}

Bindings resnet_stem(Graph& graph) {
  const nn::Scope scope(graph);
  Tensor x = relu(conv_unit(scope.child("stem"), graph.input("x", {1, 3, 112, 112}), 32, 7, 2));
  x = max_pool2d(x, 3, {.stride = 2, .padding = 1});
  for (int block = 0; block < 2; ++block) {
    x = relu(conv_unit(scope.child(block), x, 32, 3, 1) + x);
  }
  x.output("y");
  return {};
}

Bindings attention(Graph& graph) {
  const Dims keys = {8, 1000, 64};
  const Tensor q = graph.input("q", {8, 16, 64});
  const Tensor k = graph.input("k", keys), v = graph.input("v", keys);
  matmul(softmax(matmul(q, k.transpose(1, 2)) * 0.125F, -1), v).output("y");
  return {};
}

Bindings norm_mlp(Graph& graph) {
  const nn::Scope scope(graph);
  const Tensor x = graph.input("x", {32, 512});
  const Tensor norm = nn::layer_norm(scope.child("norm"), x);
  const Tensor inner = gelu(nn::linear(scope.child("up"), norm, 2048));
  (x + nn::linear(scope.child("down"), inner, 512)).output("y");
  return {};
}

Bindings llama(Graph& graph, const llm::LlamaConfig& config, DType dtype, int64_t s, int64_t past) {
  llm::build_llama(nn::Scope(graph, "", dtype), config,
                   {.room = 512, .longest_chunk = 128, .cache = dtype});
  return {{"s", s}, {"past", past}};
}

llm::LlamaConfig smollm2() {
  return {.vocab_size = 49152,
          .features = 576,
          .hidden = 1536,
          .layers = 30,
          .heads = 9,
          .kv_heads = 3,
          .head_size = 64,
          .context = 2048,
          .tied = true};
}

llm::LlamaConfig llama_1b() {
  return {.vocab_size = 128256,
          .features = 2048,
          .hidden = 8192,
          .layers = 16,
          .heads = 32,
          .kv_heads = 8,
          .head_size = 64,
          .context = 2048,
          .tied = true};
}

std::vector<std::pair<std::string, Build>> all_builders() {
  std::vector<std::pair<std::string, Build>> list = {
      {"softmax-norm", softmax_norm},
      {"swiglu", swiglu},
      {"mlp", mlp},
      {"norm-mlp", norm_mlp},
      {"attention", attention},
      {"resnet-stem", resnet_stem},
      {"resnet-18", resnet18},
      {"smollm2-prefill", [](Graph& g) { return llama(g, smollm2(), DType::F32, 128, 0); }},
      {"smollm2", [](Graph& g) { return llama(g, smollm2(), DType::F32, 1, 128); }},
      {"llama-1b-prefill", [](Graph& g) { return llama(g, llama_1b(), DType::BF16, 128, 0); }},
      {"llama-1b-decode", [](Graph& g) { return llama(g, llama_1b(), DType::BF16, 1, 128); }},
  };
  for (const Network& network : networks()) {
    list.emplace_back(network.name, [&network](Graph& graph) {
      network.build(graph, {});
      return Bindings();
    });
  }
  return list;
}

const std::vector<std::pair<std::string, Build>>& builders() {
  static const std::vector<std::pair<std::string, Build>> list = all_builders();
  return list;
}

}  // namespace

std::vector<std::string> search_graph_names() {
  std::vector<std::string> names;
  for (const auto& [name, build] : builders()) names.push_back(name);
  return names;
}

SearchGraph search_graph_of_shapes(const std::string& name) {
  for (const auto& [known, build] : builders()) {
    if (known != name) continue;
    SearchGraph result{std::make_unique<Graph>(), {}};
    result.sizes = build(*result.graph);
    return result;
  }
  throw UserError(fmt::format("there is no graph '{}'; there are: {}", name,
                              fmt::join(search_graph_names(), ", ")));
}

SearchGraph build_search_graph(const std::string& name) {
  SearchGraph result = search_graph_of_shapes(name);
  bench::set_random_leaves(*result.graph, result.sizes);
  return result;
}

}  // namespace luminal
