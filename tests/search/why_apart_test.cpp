// Why two values aren't in one kernel: the reasons that a graph's text form can't bring about.
#include "luminal/search/inspect/why_apart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/base/errors.h"
#include "luminal/graph/custom_op.h"
#include "luminal/luminal.h"

namespace luminal::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> list(const Finding& finding, const std::string& name) {
  for (const auto& [key, value] : finding.fields) {
    if (key == name) return std::get<std::vector<std::string>>(value);
  }
  return {};
}

Finding asked(const Graph& graph, const Tensor& a, const Tensor& b,
              const PlanningOptions& options = {}) {
  Inspection inspection(graph, options);
  return why_apart(inspection, a.id(), b.id());
}

TEST(WhyApart, StoringItWasAskedFor) {
  Graph graph;
  Tensor root = sqrt(graph.input("x", {512, 512})).materialize();
  Tensor y = exp2(root).output("y");
  const Finding found = asked(graph, root, y);
  EXPECT_EQ(found.at("outcome"), "apart");
  EXPECT_THAT(list(found, "reasons"), ElementsAre("materialize() was called on it"));
  EXPECT_EQ(found.at("all_inside"), "");
}

TEST(WhyApart, ALimitIsNamed) {
  Graph graph;
  Tensor x = graph.input("x", {4, 100});
  Tensor e = exp(x - max(x, 1).unsqueeze(1).expand({4, 100}));
  Tensor y = (e / sum(e, 1).unsqueeze(1).expand({4, 100})).output("y");
  PlanningOptions options;
  options.search.fusion = FusionPolicy::Always;
  options.search.limits.walk.most_instances = 6;
  options.search.sideways = false;  // it would put the parts into one launch after all
  const Finding parts = asked(graph, e, y, options);
  EXPECT_EQ(parts.at("outcome"), "apart");
  EXPECT_THAT(list(parts, "because").front(),
              HasSubstr("no kernel can hold it: too many instances"));
  EXPECT_EQ(parts.at("all_inside"), "no kernel can hold it: too many instances");
}

// It is planned, and never run.
CustomOp opaque() {
  return {.name = "opaque",
          .shape_rule = [](const std::vector<TensorType>& inputs) { return inputs.front(); },
          .compute = [](const std::vector<TensorData>&, TensorData::Writable&) {}};
}

TEST(WhyApart, AHostStepBetween) {
  Graph graph;
  Tensor wave = sin(graph.input("x", {64, 64}));
  Tensor twice = custom_op(opaque(), {wave});
  Tensor y = sqrt(twice).output("y");
  const Finding found = asked(graph, wave, y);
  EXPECT_EQ(found.at("outcome"), "apart");
  EXPECT_THAT(list(found, "reasons"),
              ElementsAre("a host step reads it", "a host step computes it"));
  EXPECT_EQ(asked(graph, twice, y).at("outcome"), "on-the-host");
}

}  // namespace
}  // namespace luminal::search
