#include "luminal/llm/models/llama/llama_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "luminal/base/errors.h"
#include "tests/io/gguf_builder.h"
#include "tests/support/user_error.h"

namespace luminal::llm {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
using tests::user_error;

std::string settings(const std::string& more, const std::string& kind = "llama") {
  return R"({"model_type": ")" + kind + R"(", "vocab_size": 100, "hidden_size": 32,
    "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "max_position_embeddings": 128)" +
         more + "}";
}

LlamaConfig from_json(const std::string& more, const std::string& kind = "llama") {
  return llama_config(Config::parse(settings(more, kind), "config.json"));
}

TEST(LlamaFiles, DefaultsAreThoseOfTheFormat) {
  const LlamaConfig config = from_json("");
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.head_size, 8);
  EXPECT_EQ(config.norm_eps, 1e-6);
  EXPECT_EQ(config.rope_theta, 10000);
  EXPECT_EQ(config.rope_pairs, RotaryPairs::Halves);
  EXPECT_FALSE(config.tied || config.attention_bias || config.feed_forward_bias || config.window);
}

TEST(LlamaFiles, RotaryScalingIsReadInBothItsForms) {
  const std::string old_form = R"(, "rope_theta": 5e5, "rope_scaling": {"type": "llama3",
    "factor": 8, "low_freq_factor": 2, "original_max_position_embeddings": 64})";
  const std::string new_form = R"(, "rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5,
    "factor": 8, "low_freq_factor": 2, "original_max_position_embeddings": 64})";
  for (const std::string& form : {old_form, new_form}) {
    const LlamaConfig config = from_json(form);
    EXPECT_EQ(config.rope_theta, 5e5);
    EXPECT_EQ(config.rope_scaling.kind, nn::RopeKind::Llama3);
    EXPECT_EQ(config.rope_scaling.factor, 8);
    EXPECT_EQ(config.rope_scaling.low_frequency_factor, 2);
    EXPECT_EQ(config.rope_scaling.high_frequency_factor, 4);
    EXPECT_EQ(config.rope_scaling.original_context, 64);
  }
}

TEST(LlamaFiles, OnlyMistralHasAWindow) {
  EXPECT_THAT(from_json(R"(, "sliding_window": 9)", "mistral").window, Optional(9));
  EXPECT_EQ(from_json(R"(, "sliding_window": null)", "mistral").window, std::nullopt);
  EXPECT_EQ(from_json(R"(, "sliding_window": 9)").window, std::nullopt);
}

TEST(LlamaFiles, WhatIsMissingOrUnknownIsNamed) {
  EXPECT_THAT(user_error([] { from_json("", "gpt2"); }), HasSubstr("'gpt2', not llama"));
  EXPECT_THAT(user_error([] { from_json(R"(, "hidden_act": "gelu")"); }), HasSubstr("'gelu'"));
  EXPECT_THAT(user_error([] { from_json(R"(, "rope_scaling": {"type": "dynamic"})"); }),
              HasSubstr("the rotary scaling 'dynamic' isn't supported"));
  EXPECT_THAT(user_error([] { from_json(R"(, "rope_scaling": {"type": "linear"})"); }),
              HasSubstr("lacks 'rope_scaling.factor'"));
  EXPECT_THAT(user_error([] { from_json(R"(, "num_key_value_heads": 3)"); }),
              HasSubstr("4 heads don't divide into 3 kv heads"));
  EXPECT_THAT(user_error([] { llama_config(Config::parse("{}", "config.json")); }),
              HasSubstr("lacks 'model_type'"));
  EXPECT_THAT(
      user_error([] { llama_config(Config::parse(R"({"model_type": "llama"})", "config.json")); }),
      HasSubstr("lacks 'vocab_size'"));
}

std::vector<std::string> gguf_metadata() {
  const auto number = [](const char* key, uint32_t value) {
    return entry(std::string("llama.") + key, GgufKind::U32, raw(value));
  };
  return {entry("general.architecture", GgufKind::String, counted("llama")),
          number("embedding_length", 32),
          number("feed_forward_length", 64),
          number("block_count", 2),
          number("attention.head_count", 4),
          number("attention.head_count_kv", 2),
          number("context_length", 128),
          number("rope.dimension_count", 8),
          entry("llama.attention.layer_norm_rms_epsilon", GgufKind::F32, raw(0.5f))};
}

Gguf gguf(std::vector<std::string> metadata, const std::vector<std::string>& more_tensors = {}) {
  GgufParts parts{.tensors = {tensor("token_embd.weight", {32, 10}, 24, 0)},
                  .metadata = std::move(metadata),
                  .data = std::string(1024, '\0')};
  parts.tensors.insert(parts.tensors.end(), more_tensors.begin(), more_tensors.end());
  auto owner = std::make_shared<std::string>(parts.bytes());
  return Gguf::parse(std::as_bytes(std::span(*owner)), owner, "small.gguf");
}

TEST(LlamaFiles, GgufMetadataSaysTheSame) {
  const LlamaConfig config = llama_config(gguf(gguf_metadata()));
  EXPECT_EQ(config.vocab_size, 10);
  EXPECT_EQ(config.kv_heads, 2);
  EXPECT_EQ(config.head_size, 8);
  EXPECT_EQ(config.norm_eps, 0.5);
  EXPECT_EQ(config.rope_pairs, RotaryPairs::Interleaved);
  EXPECT_TRUE(config.tied);
  EXPECT_FALSE(config.rope_factors);
  const LlamaConfig other =
      llama_config(gguf(gguf_metadata(), {tensor("output.weight", {1}, 24, 320),
                                          tensor("rope_freqs.weight", {4}, 0, 352)}));
  EXPECT_FALSE(other.tied);
  EXPECT_TRUE(other.rope_factors);
}

TEST(LlamaFiles, GgufThatDoesNotFitIsNamed) {
  std::vector<std::string> metadata = gguf_metadata();
  metadata.push_back(entry("llama.rope.scaling.type", GgufKind::String, counted("longrope")));
  EXPECT_THAT(user_error([&] { llama_config(gguf(metadata)); }), HasSubstr("'longrope' isn't"));
  metadata = gguf_metadata();
  metadata.erase(metadata.begin() + 3);
  EXPECT_THAT(user_error([&] { llama_config(gguf(metadata)); }),
              HasSubstr("lacks the metadata 'llama.block_count'"));
  metadata = gguf_metadata();
  metadata[7] = entry("llama.rope.dimension_count", GgufKind::U32, raw(uint32_t{4}));
  EXPECT_THAT(user_error([&] { llama_config(gguf(metadata)); }), HasSubstr("4 of a head's 8"));
  metadata[0] = entry("general.architecture", GgufKind::String, counted("bert"));
  EXPECT_THAT(user_error([&] { llama_config(gguf(metadata)); }), HasSubstr("'bert', not llama"));
}

TEST(LlamaFiles, WeightsHaveNamesInGguf) {
  EXPECT_EQ(llama_gguf_name("model.embed_tokens.weight"), "token_embd.weight");
  EXPECT_EQ(llama_gguf_name("model.norm.weight"), "output_norm.weight");
  EXPECT_EQ(llama_gguf_name("lm_head.weight"), "output.weight");
  EXPECT_EQ(llama_gguf_name("model.layers.12.self_attn.q_proj.weight"), "blk.12.attn_q.weight");
  EXPECT_EQ(llama_gguf_name("model.layers.0.mlp.down_proj.bias"), "blk.0.ffn_down.bias");
  EXPECT_EQ(llama_gguf_name("model.layers.3.input_layernorm.weight"), "blk.3.attn_norm.weight");
  EXPECT_EQ(llama_gguf_name("rope_freqs.weight"), "rope_freqs.weight");
  EXPECT_EQ(llama_gguf_name("model.layers."), "model.layers.");
}

}  // namespace
}  // namespace luminal::llm
