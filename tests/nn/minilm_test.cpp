// all-MiniLM-L6-v2 loads by its PyTorch names and reproduces its golden embeddings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "luminal/base/os_paths.h"
#include "luminal/driver/compile.h"
#include "luminal/graph/composite/norm.h"
#include "luminal/graph/composite/reduce.h"
#include "luminal/io/load_weights.h"
#include "tests/nn/bert.h"

namespace luminal {
namespace {

// Checks the first `count` sentences on a backend.
void check_golden(size_t count, const std::string& backend) {
  std::filesystem::path models = base::environment("LUMINAL_TEST_MODELS").value_or(LUMINAL_MODELS);
  std::filesystem::path folder = models / "minilm-l6-v2";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "SKIPPED: there is no " << folder << "; set LUMINAL_TEST_MODELS";
  }
  Graph graph;
  Expr s = Expr::var("s", 1, 512);
  Tensor ids = graph.input("ids", {s}, DType::I64);
  Tensor states = bert_encoder(nn::Scope(graph), ids, {});
  Tensor embedding = normalize(mean(states, 0), 0).output("embedding");

  LoadReport report = load_weights(graph, SafeTensors::open(folder.string()));
  EXPECT_EQ(report.loaded.size(), 101u);
  EXPECT_EQ(report.cast, report.loaded);  // stored as f16, computed in f32
  EXPECT_THAT(report.unexpected,
              ::testing::ElementsAre("pooler.dense.bias", "pooler.dense.weight"));

  Executable exe = compile(graph, {.backend = backend});
  auto golden = nlohmann::json::parse(std::ifstream(folder / "golden_embeddings.json"));
  std::vector<std::vector<float>> embeddings;
  double worst = 0;
  for (size_t i = 0; i < std::min(count, golden["ids"].size()); ++i) {
    auto tokens = golden["ids"][i].get<std::vector<int64_t>>();
    exe.set(ids, tokens);
    exe.run({{"s", static_cast<int64_t>(tokens.size())}});
    embeddings.push_back(exe.get<float>(embedding));
    ASSERT_EQ(embeddings.back().size(), 384u);
    auto expected = golden["embedding_first16"][i].get<std::vector<double>>();
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_NEAR(embeddings.back()[k], expected[k], 1e-3) << "sentence " << i << " element " << k;
      worst = std::max(worst, std::abs(embeddings.back()[k] - expected[k]));
    }
    // All 384 elements enter the cosines.
    for (size_t j = 0; j <= i; ++j) {
      double cosine = std::inner_product(embeddings[i].begin(), embeddings[i].end(),
                                         embeddings[j].begin(), 0.0);
      EXPECT_NEAR(cosine, golden["cosine"][i][j].get<double>(), 1e-3) << i << " and " << j;
      worst = std::max(worst, std::abs(cosine - golden["cosine"][i][j].get<double>()));
    }
  }
  std::cout << "largest difference: " << worst << "\n";
}

TEST(MiniLm, ReproducesTwoGoldenEmbeddings) { check_golden(2, "interp"); }
TEST(MiniLm, ReproducesTwoGoldenEmbeddingsOnTheCpu) { check_golden(2, "cpu"); }
TEST(MiniLm, ReproducesEveryGoldenEmbedding) {
  check_golden(std::numeric_limits<size_t>::max(), "interp");
}

}  // namespace
}  // namespace luminal
