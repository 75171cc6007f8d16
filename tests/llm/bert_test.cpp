// BERT encoders with random weights agree with transformers.
#include "luminal/llm/models/bert/bert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/driver/compile.h"
#include "luminal/io/load_weights.h"
#include "luminal/io/model_folder.h"
#include "luminal/llm/models/list.h"
#include "tests/io/temporary_folder.h"
#include "tests/llm/elements_in.h"
#include "tests/llm/references.h"

namespace luminal::llm {
namespace {

using ::testing::HasSubstr;

std::vector<float> states_of(const ModelFolder& files, const std::vector<int32_t>& ids) {
  Graph graph;
  const Encoder encoder = find_encoder(files.config);
  const Tensor input = graph.input("ids", {Expr::var("s", 1, encoder.context)}, DType::I32);
  const Tensor states = encoder.build(nn::Scope(graph), input).output("states");
  load_weights(graph, files.tensors, {.rename = [&](const std::string& weight) {
                 return encoder.name_in_file(files.tensors, weight);
               }});
  Executable exe = compile(graph, {.backend = {.threads = 1}});
  exe.set(input, ids);
  exe.run({{"s", static_cast<int64_t>(ids.size())}});
  return exe.get<float>(states);
}

TEST(Bert, RandomModelsAgreeWithTransformers) {
  TemporaryFolder folder;
  const auto names = references_in(folder, LUMINAL_TESTS "/llm/bert_torch.py");
  if (!names) GTEST_SKIP() << "SKIPPED: no " LUMINAL_PYTHON " with transformers";
  EXPECT_EQ(names->size(), 7u);
  for (const std::string& name : *names) {
    const std::filesystem::path path = folder / name;
    const std::vector<float> states =
        states_of(ModelFolder::open(path.string()), elements_in<int32_t>(path / "ids.i32"));
    const auto expected = elements_in<float>(path / "states.f32");
    ASSERT_EQ(states.size(), expected.size()) << name;
    double most = 0;
    for (size_t i = 0; i < states.size(); ++i) {
      most = std::max(most, std::abs(double{states[i]} - double{expected[i]}));
    }
    EXPECT_LT(most, 2e-5) << name;
    std::cout << name << ": " << most << "\n";
  }
}

TEST(Bert, ConfigurationsThatCannotBeAreNamed) {
  const auto error = [](auto change) -> std::string {
    BertConfig config;
    change(config);
    try {
      check(config);
    } catch (const UserError& caught) {
      return caught.what();
    }
    return "(no error)";
  };
  EXPECT_EQ(error([](BertConfig&) {}), "(no error)");
  EXPECT_THAT(error([](BertConfig& c) { c.heads = 7; }),
              HasSubstr("bert: 768 features don't divide into 7 heads"));
  EXPECT_THAT(error([](BertConfig& c) { c.layers = 0; }), HasSubstr("the number of layers is 0"));
  EXPECT_THAT(error([](BertConfig& c) { c.heads = 0; }), HasSubstr("the number of heads is 0"));
  EXPECT_THAT(error([](BertConfig& c) { c.positions = -1; }), HasSubstr("positions is -1"));
  EXPECT_THAT(error([](BertConfig& c) { c.types = 0; }), HasSubstr("sentence types is 0"));
  EXPECT_THAT(error([](BertConfig& c) { c.vocab_size = int64_t{1} << 40; }),
              HasSubstr("it must be from 1 to 16777216"));
  EXPECT_THAT(error([](BertConfig& c) { c.hidden = 0; }), HasSubstr("hidden features is 0"));
  EXPECT_THAT(error([](BertConfig& c) { c.norm_eps = 0; }), HasSubstr("epsilon is 0"));
}

}  // namespace
}  // namespace luminal::llm
