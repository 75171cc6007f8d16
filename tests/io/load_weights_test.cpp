#include "luminal/io/load_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/graph/tensor.h"
#include "tests/io/temporary_folder.h"

namespace luminal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TensorData floats(std::vector<float> values, std::vector<int64_t> dims) {
  return TensorData::copy_of(std::span<const float>(values), std::move(dims));
}

// A file on disk with these tensors, opened.
class LoadWeights : public ::testing::Test {
 protected:
  SafeTensors file(const std::vector<NamedData>& tensors) {
    write_safetensors(folder_ / "model.safetensors", tensors);
    return SafeTensors::open(folder_ / "model.safetensors");
  }
  std::string error(const SafeTensors& source, const LoadOptions& options = {}) {
    try {
      load_weights(graph_, source, options);
    } catch (const UserError& e) {
      return e.what();
    }
    return "(no error)";
  }

  TemporaryFolder folder_;
  Graph graph_;
};

TEST_F(LoadWeights, BindsByNameWithoutACopy) {
  Tensor w = graph_.weight("fc.weight", {2, 2});
  SafeTensors source = file({{"fc.weight", floats({1, 2, 3, 4}, {2, 2})}});
  LoadReport report = load_weights(graph_, source);
  EXPECT_THAT(report.loaded, ElementsAre("fc.weight"));
  EXPECT_THAT(report.cast, IsEmpty());
  EXPECT_THAT(report.unexpected, IsEmpty());
  EXPECT_EQ(graph_.data(w.id())->bytes.data(), source.data("fc.weight").bytes.data());
}

TEST_F(LoadWeights, CastsFloatsAndSaysSo) {
  Tensor w = graph_.weight("w", {3});
  Tensor h = graph_.weight("h", {2}, DType::BF16);
  Tensor i = graph_.weight("i", {2}, DType::F64);
  SafeTensors source = file(
      {{"w", floats({1, -2.5, 1024}, {3}).cast(DType::F16)},
       {"h", floats({1, 1.00390625f}, {2})},
       {"i", TensorData::copy_of(std::span<const int64_t>(std::vector<int64_t>{7, -1}), {2})}});
  EXPECT_THAT(load_weights(graph_, source).cast, ElementsAre("h", "i", "w"));
  EXPECT_THAT(graph_.data(w.id())->to_doubles(), ElementsAre(1, -2.5, 1024));
  EXPECT_THAT(graph_.data(h.id())->to_doubles(), ElementsAre(1, 1));
  EXPECT_THAT(graph_.data(i.id())->to_doubles(), ElementsAre(7, -1));
}

TEST_F(LoadWeights, ReportsTensorsThatNobodyAskedFor) {
  graph_.weight("a", {1});
  graph_.input("x", {1});
  LoadReport report = load_weights(
      graph_, file({{"a", floats({1}, {1})}, {"x", floats({2}, {1})}, {"b", floats({3}, {1})}}));
  EXPECT_THAT(report.unexpected, ElementsAre("b", "x"));
}

TEST_F(LoadWeights, LeavesWeightsThatHaveData) {
  Tensor a = graph_.weight("a", {1});
  a.set(std::vector<float>{5});
  graph_.literal({1, 2});
  LoadReport report = load_weights(graph_, file({{"a", floats({1}, {1})}}));
  EXPECT_THAT(report.loaded, IsEmpty());
  EXPECT_THAT(report.unexpected, ElementsAre("a"));
  EXPECT_THAT(graph_.data(a.id())->to_doubles(), ElementsAre(5));
}

TEST_F(LoadWeights, NamesMapByPrefixAndFunction) {
  Tensor a = graph_.weight("fc.weight", {1});
  LoadOptions options = {.prefix = "model.",
                         .rename = [](const std::string& name) { return "layer_" + name; }};
  load_weights(graph_, file({{"model.layer_fc.weight", floats({9}, {1})}}), options);
  EXPECT_THAT(graph_.data(a.id())->to_doubles(), ElementsAre(9));
}

TEST_F(LoadWeights, MissingNamesComeWithNearOnes) {
  graph_.weight("encoder.layer.0.query.weight", {2, 3});
  graph_.weight("head.bias", {2});
  graph_.weight("unlike.anything", {1});
  graph_.weight("there", {1});
  std::string message = error(file({{"bert.encoder.layer.0.query.weight", floats({1}, {1})},
                                    {"head_bias", floats({1}, {1})},
                                    {"there", floats({1}, {1})}}));
  EXPECT_THAT(message, HasSubstr("model.safetensors' doesn't fit 3 of the graph's 4 weights:"));
  EXPECT_THAT(message, HasSubstr("'encoder.layer.0.query.weight' [2, 3] is missing; near it: "
                                 "'bert.encoder.layer.0.query.weight'"));
  EXPECT_THAT(message, HasSubstr("'head.bias' [2] is missing; near it: 'head_bias'"));
  EXPECT_THAT(message, HasSubstr("'unlike.anything' [1] is missing"));
  EXPECT_THAT(message, Not(HasSubstr("'unlike.anything' [1] is missing; near")));
}

TEST_F(LoadWeights, WrongDimsNameBothShapesAndChangeNothing) {
  Tensor good = graph_.weight("good", {1});
  graph_.weight("w", {2, 3});
  SafeTensors source =
      file({{"good", floats({1}, {1})}, {"w", floats({1, 2, 3, 4, 5, 6}, {3, 2})}});
  EXPECT_THAT(error(source), HasSubstr("'w' is [2, 3] in the graph and [3, 2] in the file"));
  EXPECT_FALSE(graph_.has_data(good.id()));
}

TEST_F(LoadWeights, CastsThatWouldLoseTheMeaningAreRefused) {
  graph_.weight("f", {1}, DType::I32);
  graph_.weight("i", {1}, DType::I8);
  graph_.weight("b", {1}, DType::Bool);
  std::vector<int64_t> one = {1};
  TensorData i64 = TensorData::copy_of(std::span<const int64_t>(one), {1});
  std::string message = error(file({{"f", floats({1.5}, {1})}, {"i", i64}, {"b", i64}}));
  EXPECT_THAT(message,
              HasSubstr("'f' is i32 in the graph and f32 in the file; declare the weight"));
  EXPECT_THAT(message, HasSubstr("'i' is i8 in the graph and i64 in the file"));
  EXPECT_THAT(message, HasSubstr("'b' is bool in the graph and i64 in the file"));
}

TEST_F(LoadWeights, ALongListOfProblemsIsShortened) {
  for (int i = 0; i < 500; ++i) graph_.weight("w" + std::to_string(i), {1});
  std::string message = error(file({}));
  EXPECT_THAT(message, HasSubstr("doesn't fit 500 of the graph's 500 weights"));
  EXPECT_THAT(message, HasSubstr("and 490 more"));
}

}  // namespace
}  // namespace luminal
