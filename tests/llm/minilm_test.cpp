// all-MiniLM-L6-v2 from its folder reproduces its golden embeddings, from text on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "luminal/llm/embedder.h"
#include "luminal/nn/scope.h"
#include "tests/llm/models.h"

namespace luminal::llm {
namespace {

std::string minilm() { return folder_of("minilm-l6-v2").string(); }

// Embeds all sentences with one executable and compares.
void check_golden(const EmbedderOptions& options, double tolerance) {
  const auto golden = nlohmann::json::parse(std::ifstream(minilm() + "/golden_embeddings.json"));
  Embedder embedder(EmbeddingModel::open(minilm()), options);
  std::vector<std::vector<float>> embeddings;
  double worst = 0;
  const auto compare = [&](double found, double expected, const std::string& what) {
    EXPECT_NEAR(found, expected, tolerance) << what;
    worst = std::max(worst, std::abs(found - expected));
  };
  for (size_t i = 0; i < golden["sentences"].size(); ++i) {
    const auto sentence = golden["sentences"][i].get<std::string>();
    EXPECT_EQ(embedder.model().tokenizer().encode(sentence),
              golden["ids"][i].get<std::vector<TokenId>>());
    const Embedding embedding = embedder.embed(sentence);
    EXPECT_EQ(embedding.tokens, static_cast<int64_t>(golden["ids"][i].size()));
    EXPECT_EQ(embedding.read, embedding.tokens);
    ASSERT_EQ(embedding.values.size(), 384u);
    embeddings.push_back(embedding.values);
    const auto expected = golden["embedding_first16"][i].get<std::vector<double>>();
    for (size_t k = 0; k < expected.size(); ++k) {
      compare(embedding.values[k], expected[k],
              "sentence " + std::to_string(i) + " element " + std::to_string(k));
    }
    // All 384 elements enter the cosines.
    for (size_t j = 0; j <= i; ++j) {
      compare(cosine(embeddings[i], embeddings[j]), golden["cosine"][i][j].get<double>(),
              "sentences " + std::to_string(i) + " and " + std::to_string(j));
    }
  }
  EXPECT_EQ(embeddings.size(), 6u);
  std::cout << "largest difference: " << worst << "\n";
}

// The goldens have five digits.
TEST(MiniLm, ReproducesEveryGoldenEmbedding) {
  SKIP_WITHOUT(minilm());
  check_golden({.compile = {.backend = {.threads = 1}}}, 2e-5);
}

TEST(MiniLm, ReproducesEveryGoldenEmbeddingInBf16) {
  SKIP_WITHOUT(minilm());
  check_golden({.dtype = DType::BF16, .compile = {.backend = {.threads = 1}}}, 5e-3);
}

TEST(MiniLm, ReproducesEveryGoldenEmbeddingInterpreted) {
  SKIP_WITHOUT(minilm());
  check_golden({.compile = {.backend = {.name = "interp"}}}, 2e-5);
}

TEST(MiniLm, SaysWhatItsFilesSay) {
  SKIP_WITHOUT(minilm());
  const EmbeddingModel model = EmbeddingModel::open(minilm());
  EXPECT_EQ(model.encoder().architecture, "bert");
  EXPECT_EQ(model.encoder().features, 384);
  EXPECT_EQ(model.encoder().context, 512);
  EXPECT_EQ(model.longest(), 256);  // of sentence_bert_config.json
  EXPECT_TRUE(model.states_pooling());
  EXPECT_EQ(text(model.pooling()), "the mean of all tokens, normalised to length 1");
  Graph graph;
  model.build(graph, DType::F32);
  EXPECT_EQ(nn::parameters(graph).size(), 101u);
}

TEST(MiniLm, OfALongTextTheBeginningCounts) {
  SKIP_WITHOUT(minilm());
  Embedder embedder(EmbeddingModel::open(minilm()), {.compile = {.backend = {.threads = 1}}});
  std::string text;
  for (int i = 0; i < 254; ++i) text += "word ";
  const Embedding whole = embedder.embed(text);
  EXPECT_EQ(whole.tokens, 256);
  EXPECT_EQ(whole.read, 256);
  const Embedding cut = embedder.embed(text + "that nobody reads");
  EXPECT_EQ(cut.tokens, 259);
  EXPECT_EQ(cut.read, 256);
  EXPECT_EQ(cut.values, whole.values);
  const Embedding empty = embedder.embed("");
  EXPECT_EQ(empty.tokens, 2);
  EXPECT_NEAR(cosine(empty.values, empty.values), 1, 1e-6);
  EXPECT_LT(cosine(empty.values, whole.values), 0.9);
}

}  // namespace
}  // namespace luminal::llm
