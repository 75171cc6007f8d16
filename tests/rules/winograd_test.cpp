// Convolutions by Winograd's method: the model takes it where it pays, and results stay within the
// error that approximate rules may have, of those of the sum as it is written.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "luminal/luminal.h"
#include "luminal/rule_testing/test_rules.h"

namespace luminal {
namespace {

struct ConvolutionCase {
  int64_t images, channels, out, rows, columns, padding;
  DType dtype = DType::F32;
};

struct ConvolutionOutcome {
  double flops = 0;  // of the plan
  std::vector<float> result;
};

ConvolutionOutcome convolved(const ConvolutionCase& of, const std::vector<std::string>& off) {
  Graph graph;
  const Tensor x = graph.input("x", {of.images, of.channels, of.rows, of.columns}, of.dtype);
  const Tensor w = graph.weight("w", {of.out, of.channels, 3, 3}, of.dtype);
  const Tensor b = graph.weight("b", {of.out}, of.dtype);
  const Tensor y = relu(conv2d(x, w, b, {.padding = of.padding})).cast(DType::F32).output("y");
  CompileReport report;
  CompileOptions options{.plan = {.numerics = Numerics::Approximate, .disable_rules = off}};
  options.storage.cache_folder = "none";
  options.report = &report;
  Executable executable = compile(graph, options);
  float next = 1;
  for (NodeId id : graph.leaves()) {
    const Tensor leaf = graph.tensor(id);
    std::vector<float> data(static_cast<size_t>(*n_elements(leaf.dims()).to_int()));
    for (float& value : data) value = std::sin(next += 1.7F) / 4;
    executable.set(leaf, data);
  }
  executable.run();
  executable.run();
  ConvolutionOutcome outcome{.flops = 0, .result = executable.get<float>(y)};
  for (const KernelReport& kernel : report.kernels) outcome.flops += kernel.model_flops;
  return outcome;
}

void expect_near_the_sum(const ConvolutionCase& of) {
  const std::vector<float> found = convolved(of, {}).result;
  const std::vector<float> expected = convolved(of, {"convolutions"}).result;
  ASSERT_EQ(found.size(), expected.size());
  double largest = 0;
  for (float value : expected) largest = std::max<double>(largest, std::abs(value));
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 0.01 * largest + 1e-6) << "element " << i;
  }
}

TEST(Winograd, MultipliesLessWhereChannelsAreMany) {
  const ConvolutionCase of{1, 128, 128, 28, 28, 1};
  const double with = convolved(of, {}).flops, without = convolved(of, {"convolutions"}).flops;
  std::printf("128 × 128 channels, 28 × 28: %.3g of %.3g MF\n", with / 1e6, without / 1e6);
  EXPECT_LT(with * 1.8, without);
  expect_near_the_sum(of);
}

TEST(Winograd, IsRightForTilesThatEndBeyondTheImage) {
  for (int64_t rows : {1, 3, 15, 16, 17}) {
    SCOPED_TRACE(rows);
    expect_near_the_sum({2, 64, 64, rows, 18 - rows, 1});
    if (rows > 2) expect_near_the_sum({1, 64, 48, rows, rows, 0});
  }
}

TEST(Winograd, TakesHalvesAsFloats) {
  for (DType dtype : {DType::BF16, DType::F16}) {
    expect_near_the_sum({1, 64, 64, 14, 14, 1, dtype});
  }
}

TEST(Winograd, IsNotTakenUnasked) {
  Graph graph;
  const Tensor x = graph.input("x", {1, 128, 28, 28});
  conv2d(x, graph.weight("w", {128, 128, 3, 3}), std::nullopt, {.padding = 1}).output("y");
  CompileReport report;
  CompileOptions options{.plan = {.numerics = Numerics::Finite}};
  options.storage.cache_folder = "none";
  options.report = &report;
  compile(graph, options);
  for (const RuleGrowth& rule : report.rules) EXPECT_NE(rule.group, "convolutions") << rule.rule;
}

// The rule with a part of it replaced, which makes it wrong.
rule_testing::RuleTestResult test_changed(const std::string& from, const std::string& to) {
  const search::RuleSet embedded;
  std::string form = embedded.find("winograd-2")->form;
  const size_t at = form.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  form.replace(at, from.size(), to);
  const std::string name = "\"winograd-2\"", group = "convolutions.approximate";
  form.replace(form.find(name), name.size(), "\"changed\"");
  form.replace(form.find(group), group.size(), "changed.approximate");
  const search::RuleText file{"changed.egg", "(ruleset changed.approximate)\n" + form};
  const search::RuleSet rules(std::vector{file});
  return rule_testing::test_rule(rules, *rules.find("changed"));
}

TEST(Winograd, WrongTablesScalesAndSumsAreCaught) {
  const std::pair<const char*, const char*> changes[] = {
      {"(winograd-scale 2)", "(winograd-scale 4)"},
      {"(let output-rows (Reduce \"sum\"", "(let output-rows (Reduce \"max\""},
      {"(winograd-table \"input\" 2)", "(winograd-table \"filter\" 2)"},
      {"(Reindex t5 a)", "(Reindex t5 (Mul a a))"},
      {"(let input (Reduce \"sum\"", "(let input (Reduce \"max\""},
      {"(let products (Reduce \"sum\"", "(let products (Reduce \"max\""},
      {"(let filter (Mul unscaled", "(let filter (Add unscaled"},
      {"(Mul (Reindex t4 filter)", "(Add (Reindex t4 filter)"},
      {"(Reindex d6 output-rows)", "(Reindex d6 (Mul output-rows output-rows))"}};
  int caught = 0;
  for (const auto& [from, to] : changes) {
    const rule_testing::RuleTestResult result = test_changed(from, to);
    const bool is_caught = result.why.find("does not hold") != std::string::npos;
    EXPECT_TRUE(is_caught) << from << ": " << result.why;
    caught += is_caught;
  }
  std::printf("caught %d wrong rules of convolutions\n", caught);
}

}  // namespace
}  // namespace luminal
