// Models of the Llama family with random weights agree with transformers, run in chunks.
#include "luminal/llm/models/llama/llama.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "luminal/backends/cpu/target/target.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/process.h"
#include "luminal/io/load_weights.h"
#include "luminal/io/model_folder.h"
#include "luminal/llm/models/llama/llama_files.h"
#include "tests/io/temporary_folder.h"
#include "tests/llm/elements_in.h"
#include "tests/llm/greedy.h"
#include "tests/llm/references.h"

namespace luminal::llm {
namespace {

using ::testing::HasSubstr;

// Prompt, single tokens and chunks in turn, so that every length meets a cache that isn't empty.
std::vector<float> logits_in_chunks(Greedy& greedy, const std::vector<int32_t>& ids) {
  std::vector<float> all;
  size_t at = 0;
  for (size_t length : {7u, 1u, 1u, 6u, 1u, 8u}) {
    const auto begin = ids.begin() + static_cast<ptrdiff_t>(at);
    const std::vector<int32_t> chunk(begin, begin + static_cast<ptrdiff_t>(length));
    const std::vector<float> logits = at == 0 ? greedy.start(chunk) : greedy.feed(chunk);
    all.insert(all.end(), logits.begin(), logits.end());
    at += length;
  }
  EXPECT_EQ(at, ids.size());
  return all;
}

// The largest difference, relative to the largest logit.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0, scale = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(double{a[i]} - double{b[i]}));
    scale = std::max(scale, std::abs(double{b[i]}));
  }
  return most / scale;
}

TEST(Llama, RandomModelsAgreeWithTransformers) {
  TemporaryFolder folder;
  const auto names = references_in(folder, LUMINAL_TESTS "/llm/llama_torch.py");
  if (!names) GTEST_SKIP() << "SKIPPED: no " LUMINAL_PYTHON " with transformers";
  EXPECT_GE(names->size(), 12u);
  for (const std::string& name : *names) {
    const std::filesystem::path path = folder / name;
    const ModelFolder files = ModelFolder::open(path.string());
    Graph graph;
    const LlamaConfig config = llama_config(files.config);
    const DecoderGraph model =
        build_llama(nn::Scope(graph), config, {.room = 40, .every_logit = true});
    EXPECT_TRUE(load_weights(graph, files.tensors).unexpected.empty()) << name;
    Greedy greedy(model,
                  compile(graph, {.backend = {.threads = 1}, .plan = {.variants = {{"s", {1}}}}}));
    const auto ids = elements_in<int32_t>(path / "ids.i32");
    const auto expected = elements_in<float>(path / "logits.f32");
    const std::vector<float> logits = logits_in_chunks(greedy, ids);
    ASSERT_EQ(logits.size(), expected.size()) << name;
    const double found = difference(logits, expected);
    EXPECT_LT(found, 1e-5) << name;
    std::cout << name << ": " << found << "\n";
  }
}

// Logits of a few chunks from a GGUF file, with its quantised weights as planes or as f32 values.
std::vector<float> logits_of(const Gguf& file, bool as_planes) {
  const LoadOptions names{.rename = llama_gguf_name};
  Graph graph;
  nn::Scope scope(graph);
  if (as_planes) scope = scope.with_formats(weight_formats(file, names));
  const DecoderGraph model =
      build_llama(scope, llama_config(file), {.room = 32, .every_logit = true});
  load_weights(graph, file, names);
  Greedy greedy(model,
                compile(graph, {.backend = {.threads = 1}, .plan = {.variants = {{"s", {1}}}}}));
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 24; ++i) ids.push_back(i * 37 % 512);
  return logits_in_chunks(greedy, ids);
}

TEST(Llama, PlanesComputeWhatTheirValuesCompute) {
  TemporaryFolder folder;
  for (const char* type : {"Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q6_K"}) {
    const std::string path = folder / (std::string(type) + ".gguf");
    const auto code =
        base::run_program(LUMINAL_PYTHON, {LUMINAL_TESTS "/../apps/bench/llm/random_llama.py", path,
                                           "--type", type, "--shape", "tiny"});
    if (!code) GTEST_SKIP() << "SKIPPED: no " LUMINAL_PYTHON;
    ASSERT_EQ(*code, 0);
    const Gguf file = Gguf::open(path);
    EXPECT_LT(difference(logits_of(file, true), logits_of(file, false)), 1e-5) << type;
  }
}

LlamaConfig small() {
  LlamaConfig config;
  config.vocab_size = 8;
  config.features = 8;
  config.hidden = 8;
  config.layers = 1;
  config.heads = 2;
  config.kv_heads = 1;
  config.head_size = 4;
  config.context = 16;
  return config;
}

// Eight queries per kv head, as TinyLlama and Llama 3 70B have: more rows than a narrow vector has
// lanes. The cache has room enough for flash decoding.
TEST(Llama, GroupsOfEightQueriesAgreeOnEveryTarget) {
  LlamaConfig config = small();
  config.vocab_size = 48;
  config.features = 32;
  config.hidden = 32;
  config.heads = 8;
  config.head_size = 16;
  config.context = 512;
  Graph graph;
  const DecoderGraph model = build_llama(nn::Scope(graph), config, {.every_logit = true});
  std::mt19937 random(5);
  for (NodeId leaf : graph.leaves()) {
    const Node& node = graph.node(leaf);
    if (node.as<InputAttr>().role != Role::Weight) continue;
    std::vector<float> values(static_cast<size_t>(n_elements(node.dims).to_int().value()));
    for (float& value : values) value = std::normal_distribution<float>(0, 0.4f)(random);
    graph.tensor(leaf).set(values);
  }
  std::vector<int32_t> ids;
  for (int32_t i = 0; i < 24; ++i) ids.push_back(i * 37 % 48);
  Greedy reference(model, compile(graph, {.backend = {.name = "interp"}}));
  const std::vector<float> expected = logits_in_chunks(reference, ids);
  for (const auto& target : backends::cpu::Target::here()) {
    Greedy greedy(model, compile(graph, {.backend = {.target = target.name, .threads = 1},
                                         .plan = {.variants = {{"s", {1}}}},
                                         .storage = {.cache_folder = "none"}}));
    EXPECT_LT(difference(logits_in_chunks(greedy, ids), expected), 1e-5) << target.name;
  }
}

TEST(Llama, ConfigurationsThatCannotBeAreNamed) {
  const auto error = [](auto change) -> std::string {
    LlamaConfig config = small();
    change(config);
    try {
      check(config);
    } catch (const UserError& caught) {
      return caught.what();
    }
    return "(no error)";
  };
  EXPECT_EQ(error([](LlamaConfig&) {}), "(no error)");
  EXPECT_THAT(error([](LlamaConfig& c) { c.layers = 0; }), HasSubstr("number of layers is 0"));
  EXPECT_THAT(error([](LlamaConfig& c) { c.layers = 1 << 30; }), HasSubstr("number of layers"));
  EXPECT_THAT(error([](LlamaConfig& c) { c.heads = -1; }), HasSubstr("number of heads is -1"));
  EXPECT_THAT(error([](LlamaConfig& c) { c.kv_heads = 3; }), HasSubstr("kv heads is 3"));
  EXPECT_THAT(error([](LlamaConfig& c) { c.heads = 3, c.kv_heads = 2; }),
              HasSubstr("3 heads don't divide into 2 kv heads"));
  EXPECT_THAT(error([](LlamaConfig& c) { c.head_size = 3; }), HasSubstr("must be even"));
  EXPECT_THAT(error([](LlamaConfig& c) { c.rope_theta = 0; }), HasSubstr("rotary base is 0"));
  EXPECT_THAT(error([](LlamaConfig& c) { c.rope_scaling.factor = std::nan(""); }),
              HasSubstr("rotary factor"));
  EXPECT_THAT(error([](LlamaConfig& c) { c.window = 0; }), HasSubstr("the window is 0"));
}

TEST(Llama, ACacheHasRoomForAChunk) {
  Graph graph;
  EXPECT_THROW(build_llama(nn::Scope(graph), small(), {.room = 4, .longest_chunk = 5}), UserError);
}

}  // namespace
}  // namespace luminal::llm
