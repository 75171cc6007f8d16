// The networks of apps/bench/networks: their sizes at the scale of their papers, and small ones on
// both backends.
#include "apps/bench/networks/networks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/bench/harness/random_leaves.h"
#include "luminal/luminal.h"

namespace luminal::bench {
namespace {

struct Published {
  std::string name;
  Dims result;
  int64_t parameters;
};

// BERT-base without the pooler, Inception-v3 without the auxiliary classifier. NASNet-A isn't of a
// published size: its number is PyTorch's, of the same layers.
const Published kPublished[] = {
    {"bert-base", {128, 768}, 108'891'648},    {"resnext-50", {1, 1000}, 25'028'904},
    {"nasnet-a", {1, 5120, 7, 7}, 39'926'464}, {"nasrnn", {1, 512}, 5 * 16 * 512 * 512 + 512},
    {"inception-v3", {1, 1000}, 23'834'568},   {"squeezenet", {1, 1000}, 1'235'496},
    {"vgg-19", {1, 1000}, 143'667'240},
};

// Each has every kind of layer, of a few channels; Inception's image is about the smallest that
// its strides leave something of.
constexpr NetworkSize small(const std::string& name) {
  if (name == "inception-v3") return {.pixels = 79, .narrower = 16, .repeats = 1};
  if (name == "bert-base") return {.pixels = 6, .narrower = 16, .repeats = 1};
  return {.pixels = 36, .narrower = 16, .repeats = 1};
}

class Networks : public testing::TestWithParam<Published> {};

TEST_P(Networks, HasThePublishedSize) {
  Graph graph;
  const Tensor y = network(GetParam().name).build(graph, {});
  EXPECT_EQ(y.dims(), GetParam().result);
  EXPECT_EQ(nn::n_parameters(graph), GetParam().parameters);
}

double modelled_us(const Graph& graph, CompileOptions options) {
  CompileReport report;
  options.storage = {.cache_folder = "none", .records = "none"};
  options.inspect.stop_after = "plan";
  options.report = &report;
  EXPECT_THROW(compile(graph, options), CompileStopped);
  return report.model_us;
}

// By the model, with 1 % for what rolled layers store between them.
TEST_P(Networks, SearchFindsNoWorsePlanThanFixedRules) {
  Graph graph;
  network(GetParam().name).build(graph, {});
  const double searched = modelled_us(graph, {.plan = {.numerics = Numerics::Finite}});
  const double fixed = modelled_us(graph, {.plan = {.fusion = FusionPolicy::Fixed}});
  EXPECT_LE(searched, 1.01 * fixed);
}

std::string test_name(const testing::TestParamInfo<Published>& of) {
  std::string name = of.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

std::vector<float> result_of(const Graph& graph, CompileOptions options) {
  options.storage = {.cache_folder = "none", .records = "none"};
  Executable executable = compile(graph, options);
  executable.run();
  return executable.get<float>("y");
}

TEST_P(Networks, BackendsAgreeOnASmallOne) {
  Graph graph;
  network(GetParam().name).build(graph, small(GetParam().name));
  set_random_leaves(graph);
  const std::vector<float> expected = result_of(graph, {.backend = {.name = "interp"}});
  const std::vector<float> found = result_of(graph, {});
  float largest = 0;
  for (float value : expected) largest = std::max(largest, std::abs(value));
  ASSERT_GT(largest, 0);
  EXPECT_THAT(found, testing::Pointwise(testing::FloatNear(1e-4f * largest), expected));
}

INSTANTIATE_TEST_SUITE_P(All, Networks, testing::ValuesIn(kPublished), test_name);

TEST(FixedRules, ComputeWhatTheGraphDoes) {
  Graph graph;
  network("nasnet-a").build(graph, {.pixels = 20, .narrower = 32, .repeats = 1});
  set_random_leaves(graph);
  const std::vector<float> expected = result_of(graph, {.backend = {.name = "interp"}});
  CompileReport report;
  const std::vector<float> found =
      result_of(graph, {.plan = {.fusion = FusionPolicy::Fixed}, .report = &report});
  for (const std::string& note : report.notes) {
    EXPECT_FALSE(note.starts_with("fused by the model")) << note;
  }
  EXPECT_THAT(found, testing::Pointwise(testing::FloatNear(1e-3f), expected));
}

}  // namespace
}  // namespace luminal::bench
