#include "luminal/llm/models/bert/bert_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "luminal/base/errors.h"
#include "luminal/llm/models/list.h"
#include "tests/support/user_error.h"

namespace luminal::llm {
namespace {

using ::testing::HasSubstr;
using tests::user_error;

Config config(const std::string& more, const std::string& kind = "bert") {
  return Config::parse(R"({"model_type": ")" + kind + R"(", "vocab_size": 100, "hidden_size": 32,
    "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "max_position_embeddings": 128)" +
                           more + "}",
                       "config.json");
}

TEST(BertFiles, SizesAreReadAndDefaultsAreThoseOfTheFormat) {
  const BertConfig bert = bert_config(config(""));
  EXPECT_EQ(bert.vocab_size, 100);
  EXPECT_EQ(bert.features, 32);
  EXPECT_EQ(bert.hidden, 64);
  EXPECT_EQ(bert.layers, 2);
  EXPECT_EQ(bert.heads, 4);
  EXPECT_EQ(bert.positions, 128);
  EXPECT_EQ(bert.types, 2);
  EXPECT_EQ(bert.norm_eps, 1e-12);
  EXPECT_EQ(bert.activation, BertActivation::Gelu);
  const BertConfig other = bert_config(
      config(R"(, "type_vocab_size": 1, "layer_norm_eps": 1e-5, "hidden_act": "gelu_new")"));
  EXPECT_EQ(other.types, 1);
  EXPECT_EQ(other.norm_eps, 1e-5);
  EXPECT_EQ(other.activation, BertActivation::GeluTanh);
}

TEST(BertFiles, WhatIsMissingOrUnknownIsNamed) {
  const auto error = [](const std::string& more) {
    return user_error([&] { bert_config(config(more)); });
  };
  EXPECT_THAT(error(R"(, "hidden_act": "mish")"),
              HasSubstr("the hidden_act is 'mish'; gelu, gelu_new"));
  EXPECT_THAT(error(R"(, "position_embedding_type": "relative_key")"),
              HasSubstr("the position_embedding_type is 'relative_key'; absolute is supported"));
  EXPECT_THAT(error(R"(, "is_decoder": true)"), HasSubstr("it is a decoder"));
  EXPECT_THAT(error(R"(, "type_vocab_size": 0)"), HasSubstr("sentence types is 0"));
  EXPECT_THAT(user_error([] { bert_config(config("", "roberta")); }),
              HasSubstr("the model_type is 'roberta', not bert"));
  EXPECT_THAT(
      user_error([] { bert_config(Config::parse(R"({"model_type": "bert"})", "config.json")); }),
      HasSubstr("lacks 'vocab_size'"));
}

TEST(BertFiles, ModelsAreFoundByWhatTheyGive) {
  EXPECT_EQ(find_encoder(config("")).features, 32);
  EXPECT_EQ(find_encoder(config("")).architecture, "bert");
  EXPECT_THAT(user_error([] { find_decoder(config("")); }),
              HasSubstr("'bert', which gives embeddings, not text: use `luminal embed`"));
  EXPECT_THAT(user_error([] { find_encoder(config("", "llama")); }),
              HasSubstr("'llama', which writes text and gives no embeddings: use `luminal run`"));
  EXPECT_THAT(user_error([] { find_encoder(config("", "roberta")); }),
              HasSubstr("'roberta', which isn't supported; those that are: bert"));
}

}  // namespace
}  // namespace luminal::llm
