// Each group of rules, switched off, shows what it does: in kernels, in what they compute and read,
// in the e-graph; and never in the results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "luminal/graph/primitives.h"
#include "luminal/luminal.h"
#include "luminal/search/terms/rule_set.h"

namespace luminal {
namespace {

// What a compile came to.
struct Outcome {
  size_t kernels = 0;
  int ops = 0;    // instructions that compute something
  int loads = 0;  // instructions that read memory
  double flops = 0;
  std::vector<std::string> groups_that_fired;
  std::vector<float> result;
};

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

Outcome outcome_of(const CompileReport& report) {
  Outcome outcome;
  outcome.kernels = report.kernels.size();
  for (const KernelReport& kernel : report.kernels) {
    const int loads = count(kernel.text, " = load ");
    outcome.loads += loads;
    outcome.flops += kernel.model_flops;
    outcome.ops += count(kernel.text, " = ") - loads;
  }
  for (const RuleGrowth& rule : report.rules) {
    if (rule.matches > 0) outcome.groups_that_fired.push_back(rule.group);
  }
  return outcome;
}

Tensor built(Graph& graph, Tensor (*build)(const Tensor& x, const Tensor& y)) {
  const Tensor x = graph.input("x", {8, 16});
  const Tensor y = graph.input("y", {8, 16});
  return build(x, y).output("z");
}

std::vector<float> data(float first) {
  std::vector<float> values(128);
  for (size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i) / 32;
  return values;
}

struct Case {
  const char* group;
  Tensor (*build)(const Tensor& x, const Tensor& y);
  void (*expect)(const Outcome& with, const Outcome& without);
};

Outcome run(const Case& shown, const CompileOptions& options) {
  Graph graph;
  const Tensor z = built(graph, shown.build);
  CompileReport report;
  CompileOptions reporting = options;
  reporting.storage.cache_folder = "none";
  reporting.report = &report;
  Executable executable = compile(graph, reporting);
  executable.set(*graph.find("x"), data(-2));
  executable.set(*graph.find("y"), data(1));
  executable.run();
  Outcome outcome = outcome_of(report);
  outcome.result = executable.get<float>(z);
  return outcome;
}

const Case kCases[] = {
    // x·1 is x, and what true chooses is all there is: an op less, a kernel less, a load less.
    {"algebra",
     [](const Tensor& x, const Tensor& y) {
       const Tensor always = prim::full(x.graph(), x.dims(), true, DType::Bool);
       return sin(x * 1.0f) + prim::select(always, x, y);
     },
     [](const Outcome& with, const Outcome& without) {
       EXPECT_LT(with.ops, without.ops);
       EXPECT_LT(with.loads, without.loads);
       EXPECT_LT(with.kernels, without.kernels);
     }},
    // Turned around twice is not turned at all: then both sines are one value.
    {"movement",
     [](const Tensor& x, const Tensor& y) { return sin(x.flip({1}).flip({1})) * y + sin(x); },
     [](const Outcome& with, const Outcome& without) {
       EXPECT_LT(with.ops, without.ops);
       EXPECT_LT(with.kernels, without.kernels);
     }},
    // A product of three matrices starts with the two that have the smaller product.
    {"sums",
     [](const Tensor& x, const Tensor& y) {
       return matmul(matmul(x, y.transpose(0, 1)), x.narrow(1, 0, 1)) * 0.01f;
     },
     [](const Outcome& with, const Outcome& without) { EXPECT_LT(with.flops, without.flops); }},
    // Two products of one input are one product with the sum of their weights, here tables.
    {"weights",
     [](const Tensor& x, const Tensor& y) {
       const Tensor table = arange(x.graph(), 256, DType::F32).reshape({16, 16});
       return (matmul(x, sin(table)) + matmul(x, sin(table * 0.5f))) * 0.01f + y;
     },
     [](const Outcome& with, const Outcome& without) { EXPECT_LT(with.flops, without.flops); }},
    // Tiles of a convolution of many channels are multiplied fewer times.
    {"convolutions",
     [](const Tensor& x, const Tensor& y) {
       const Tensor image = x.reshape({1, 1, 8, 16}).expand({1, 64, 8, 16});
       const Tensor filter = y.narrow(0, 0, 3).narrow(1, 0, 3).reshape({1, 1, 3, 3});
       return conv2d(image, filter.expand({64, 64, 3, 3}), std::nullopt, {.padding = 1});
     },
     [](const Outcome& with, const Outcome& without) { EXPECT_LT(with.flops, without.flops); }},
};

TEST(RuleGroups, EachHasACaseHere) {
  std::vector<std::string> shown;
  for (const Case& one : kCases) shown.push_back(one.group);
  EXPECT_THAT(shown, testing::UnorderedElementsAreArray(search::RuleSet().groups()));
}

TEST(RuleGroups, EachShowsItsEffectWhenItIsSwitchedOff) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.group);
    const FusionPolicy never = FusionPolicy::Never;
    const Numerics all = Numerics::Approximate;
    const Outcome with = run(one, {.plan = {.fusion = never, .numerics = all}});
    const Outcome without =
        run(one, {.plan = {.fusion = never, .numerics = all, .disable_rules = {one.group}}});
    one.expect(with, without);
    EXPECT_THAT(with.groups_that_fired, testing::Contains(one.group));
    EXPECT_THAT(without.groups_that_fired, testing::Not(testing::Contains(one.group)));
  }
}

TEST(RuleGroups, NoneChangesWhatAGraphMeans) {
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.group);
    const std::vector<float> expected = run(one, {.backend = {.name = "interp"}}).result;
    for (FusionPolicy fusion : {FusionPolicy::Always, FusionPolicy::Never}) {
      for (const std::vector<std::string>& off :
           {std::vector<std::string>{}, {one.group}, search::RuleSet().groups()}) {
        const std::vector<float> got =
            run(one,
                {.plan = {.fusion = fusion, .numerics = Numerics::Finite, .disable_rules = off}})
                .result;
        ASSERT_EQ(got.size(), expected.size());
        for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace luminal
