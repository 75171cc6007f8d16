#include "luminal/llm/embedder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/io/safetensors.h"
#include "luminal/llm/model.h"
#include "luminal/llm/models/bert/bert.h"
#include "luminal/nn/scope.h"
#include "tests/io/temporary_folder.h"
#include "tests/llm/models.h"

namespace luminal::llm {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A small encoder whose folder has what sentence-transformers adds only where asked for.
class SmallModel {
 public:
  explicit SmallModel(const std::string& pooling = "", const std::string& settings = "") {
    const BertConfig config{
        .vocab_size = 12, .positions = 8, .features = 8, .hidden = 16, .layers = 1, .heads = 2};
    write("config.json", R"({"model_type": "bert", "vocab_size": 12, "hidden_size": 8,
      "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
      "max_position_embeddings": 8})");
    write("tokenizer.json", R"({"version": "1.0", "truncation": null, "padding": null,
      "added_tokens": [], "normalizer": null, "pre_tokenizer": {"type": "BertPreTokenizer"},
      "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]},
      "decoder": null, "model": {"type": "WordPiece", "unk_token": "[UNK]",
      "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0,
      "[CLS]": 1, "[SEP]": 2, "a": 3, "b": 4, "c": 5, "d": 6, "A": 7}}})");
    if (!pooling.empty()) {
      write("modules.json", R"([{"type": "Transformer"}, {"type": "Pooling", "path": "pool"}])");
      fs::create_directories(folder_ / "pool");
      write("pool/config.json", R"({"pooling_mode": ")" + pooling + R"("})");
    }
    if (!settings.empty()) write("sentence_bert_config.json", settings);
    write_weights(config);
  }
  std::string path() const { return folder_.path(); }

 private:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  void write_weights(const BertConfig& config) {
    Graph graph;
    build_bert(nn::Scope(graph), graph.input("ids", {4}, DType::I32), config);
    std::vector<NamedData> tensors;
    for (const nn::Parameter& parameter : nn::parameters(graph)) {
      const int64_t count = std::accumulate(parameter.dims.begin(), parameter.dims.end(),
                                            int64_t{1}, std::multiplies<>());
      std::vector<float> values;
      for (int64_t i = 0; i < count; ++i) {
        values.push_back(static_cast<float>(
            std::sin(1.7 * static_cast<double>(i) + static_cast<double>(tensors.size()))));
      }
      tensors.push_back(
          {parameter.name, TensorData::copy_of(std::span<const float>(values), parameter.dims)});
    }
    write_safetensors(folder_ / "model.safetensors", tensors);
  }

  TemporaryFolder folder_;
};

Embedder open(const SmallModel& model) {
  return Embedder(EmbeddingModel::open(model.path()), {.compile = {.backend = {.threads = 1}}});
}

std::string error_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const UserError& error) {
    return error.what();
  }
  return "(no error)";
}

TEST(Embedder, WithoutFilesThatSayHowItTakesTheMean) {
  const SmallModel plain, stated("mean");
  Embedder a = open(plain);
  Embedder b = open(stated);
  EXPECT_FALSE(a.model().states_pooling());
  EXPECT_TRUE(b.model().states_pooling());
  EXPECT_EQ(text(a.model().pooling()), "the mean of all tokens");
  EXPECT_EQ(a.embed("a b c").values, b.embed("a b c").values);
}

TEST(Embedder, PoolsAsTheFilesSay) {
  const SmallModel mean("mean"), first("cls"), max("max");
  const std::string text = "a b c d";
  const std::vector<float> of_mean = open(mean).embed(text).values;
  const std::vector<float> of_first = open(first).embed(text).values;
  const std::vector<float> of_max = open(max).embed(text).values;
  EXPECT_NE(of_mean, of_first);
  for (size_t i = 0; i < of_max.size(); ++i) {
    EXPECT_GE(of_max[i], of_first[i]);
    EXPECT_GE(of_max[i], of_mean[i]);
  }
}

TEST(Embedder, OneExecutableTakesTextsOfEveryLength) {
  const SmallModel model;
  Embedder embedder = open(model);
  std::string text;
  for (int64_t words = 0; words <= 6; ++words) {
    const Embedding one = embedder.embed(text);
    EXPECT_EQ(one.tokens, words + 2);
    EXPECT_EQ(one.read, words + 2);
    ASSERT_EQ(one.values.size(), 8u);
    // As another that has seen no other length.
    if (words % 3 == 0) {
      EXPECT_GT(cosine(one.values, open(model).embed(text).values), 1 - 1e-9);
    }
    text += "a ";
  }
}

TEST(Embedder, OfATextThatIsTooLongTheBeginningCounts) {
  const SmallModel whole, shorter("", R"({"max_seq_length": 5})"),
      longer("", R"({"max_seq_length": 99})");
  EXPECT_EQ(EmbeddingModel::open(whole.path()).longest(), 8);
  EXPECT_EQ(EmbeddingModel::open(longer.path()).longest(), 8);
  Embedder embedder = open(shorter);
  const Embedding cut = embedder.embed("a b c d d d");
  EXPECT_EQ(cut.tokens, 8);
  EXPECT_EQ(cut.read, 5);
  // The token that ends a text is there nevertheless.
  EXPECT_EQ(cut.values, embedder.embed(std::vector<TokenId>{1, 3, 4, 5, 2}));
}

TEST(Embedder, WhatCannotBeIsSaid) {
  const SmallModel model;
  Embedder embedder = open(model);
  using Ids = std::vector<TokenId>;
  EXPECT_THAT(error_of([&] { embedder.embed(Ids{}); }), HasSubstr("at least one token"));
  EXPECT_THAT(error_of([&] { embedder.embed(Ids(9, 1)); }),
              HasSubstr("has 9 tokens, and the model reads 8 at most"));
  EXPECT_THAT(error_of([&] { embedder.embed(Ids{12}); }), HasSubstr("token 12 isn't in"));
  EXPECT_THAT(error_of([&] { embedder.embed(Ids{-1}); }), HasSubstr("token -1 isn't in"));
  EXPECT_THAT(error_of([&] { Embedder(embedder.model(), {.dtype = DType::F16}); }),
              HasSubstr("f32 or bf16, not in f16"));
  const SmallModel none("", R"({"max_seq_length": 0})");
  EXPECT_THAT(error_of([&] { EmbeddingModel::open(none.path()); }),
              HasSubstr("max_seq_length is 0; it must be positive"));
  const SmallModel lower("", R"({"do_lower_case": true})");
  EXPECT_THAT(error_of([&] { EmbeddingModel::open(lower.path()); }),
              HasSubstr("do_lower_case is set, but the tokenizer is case-sensitive"));
  EXPECT_THAT(error_of([] { EmbeddingModel::open("/no/such"); }),
              HasSubstr("there is no such folder; give the folder of a BERT model"));
  EXPECT_THAT(error_of([] { EmbeddingModel::open("/dev/null"); }), HasSubstr("it is a file"));
  EXPECT_THAT(error_of([&] { Model::open(model.path()); }), HasSubstr("use `luminal embed`"));
}

TEST(Embedder, AModelThatWritesTextIsRefused) {
  SKIP_WITHOUT(stories());
  EXPECT_THAT(error_of([] { EmbeddingModel::open(stories()); }),
              HasSubstr("which writes text and gives no embeddings: use `luminal run`"));
}

TEST(Cosine, IsOfTheAngleAlone) {
  const std::vector<float> a = {3, 4}, b = {6, 8}, c = {-4, 3}, zero = {0, 0}, other = {1};
  EXPECT_DOUBLE_EQ(cosine(a, b), 1);
  EXPECT_DOUBLE_EQ(cosine(a, c), 0);
  EXPECT_DOUBLE_EQ(cosine(a, zero), 0);
  EXPECT_THAT(error_of([&] { cosine(a, other); }), HasSubstr("have 2 and 1 features"));
}

}  // namespace
}  // namespace luminal::llm
