#include "luminal/io/load_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "luminal/base/errors.h"
#include "luminal/driver/compile.h"
#include "luminal/graph/tensor.h"
#include "luminal/nn/linear.h"
#include "tests/io/gguf_builder.h"
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
  EXPECT_THAT(message, HasSubstr("'encoder.layer.0.query.weight' [2, 3] is missing; similar names: "
                                 "'bert.encoder.layer.0.query.weight'"));
  EXPECT_THAT(message, HasSubstr("'head.bias' [2] is missing; similar names: 'head_bias'"));
  EXPECT_THAT(message, HasSubstr("'unlike.anything' [1] is missing"));
  EXPECT_THAT(message, Not(HasSubstr("'unlike.anything' [1] is missing; similar")));
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

// Two rows of 32 in blocks: 'w' of Q4_1 (quant 3, scale 2, offset −1 and quant 5, scale 0.5,
// offset 1), 'e' of Q8_0 with the same scales and quants −4 and 6, and 'b' of F32.
Gguf quantised_file() {
  const auto row = [](std::initializer_list<uint16_t> halves, size_t count, char byte) {
    std::string bytes;
    for (uint16_t half : halves) bytes += raw(half);
    return bytes + std::string(count, byte);
  };
  GgufParts parts;
  parts.tensors = {tensor("w", {32, 2}, 3, 0), tensor("e", {32, 2}, 8, 64),
                   tensor("b", {2}, 0, 160)};
  parts.data = row({0x4000, 0xbc00}, 16, 0x33) + row({0x3800, 0x3c00}, 16, 0x55);
  parts.data.resize(64);
  parts.data += row({0x4000}, 32, -4) + row({0x3800}, 32, 6);
  parts.data.resize(160);
  parts.data += raw(10.0f) + raw(20.0f);
  auto owner = std::make_shared<std::string>(parts.bytes());
  return Gguf::parse(std::as_bytes(std::span(*owner)), owner, "small.gguf");
}

TEST_F(LoadWeights, AQuantisedTensorLoadsAsItsValues) {
  Tensor w = graph_.weight("w", {2, 32});
  Tensor e = graph_.weight("e", {2, 32}, DType::BF16);
  LoadReport report = load_weights(graph_, quantised_file());
  EXPECT_THAT(report.loaded, ElementsAre("e", "w"));
  EXPECT_THAT(report.cast, ElementsAre("e"));
  EXPECT_THAT(report.unexpected, ElementsAre("b"));
  EXPECT_EQ(graph_.data(w.id())->to_doubles()[0], 5);
  EXPECT_EQ(graph_.data(w.id())->to_doubles()[63], 3.5);
  EXPECT_EQ(graph_.data(e.id())->dtype, DType::BF16);
  EXPECT_EQ(graph_.data(e.id())->to_doubles()[0], -8);
}

TEST_F(LoadWeights, LayersUseTheFormatsOfTheFile) {
  const Gguf file = quantised_file();
  const LoadOptions options{.rename = [](const std::string& name) {
    return name == "fc.weight" ? "w" : name == "fc.bias" ? "b" : "e";
  }};
  const nn::Scope scope = nn::Scope(graph_).with_formats(weight_formats(file, options));
  Tensor index = graph_.input("index", {1}, DType::I64);
  Tensor rows = nn::embedding(scope.child("table"), index, 2, 32);
  Tensor y = nn::linear(scope.child("fc"), rows, 2).output("y");
  LoadReport report = load_weights(graph_, file, options);
  EXPECT_THAT(report.loaded,
              ElementsAre("fc.bias", "fc.weight.offsets", "fc.weight.quants", "fc.weight.scales",
                          "table.weight.quants", "table.weight.scales"));
  EXPECT_THAT(report.cast, IsEmpty());
  EXPECT_THAT(report.unexpected, IsEmpty());
  Executable exe = compile(graph_);
  exe.set(index, std::vector<int64_t>{1});
  exe.run();
  // 32 products of 3 with 5 and with 3.5, and the bias.
  EXPECT_THAT(exe.get<float>(y), ElementsAre(32 * 15 + 10, 32 * 10.5f + 20));
}

TEST_F(LoadWeights, AFormatThatDoesNotDivideAWeightIsAnError) {
  const nn::Scope scope = nn::Scope(graph_).with_formats(
      [](const std::string&) { return std::optional<BlockFormat>(BlockFormat{}); });
  EXPECT_THROW(scope.weight("w", {2, 40}), UserError);
}

TEST_F(LoadWeights, AMissingPlaneIsNamedLikeAnyWeight) {
  graph_.weight("e.offsets", {2, 1}, DType::F16);
  try {
    load_weights(graph_, quantised_file());
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'e.offsets' [2, 1] is missing; similar names:"));
  }
}

}  // namespace
}  // namespace luminal
