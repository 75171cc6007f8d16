#include "luminal/driver/options/variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "luminal/luminal.h"

namespace luminal {
namespace {

using testing::HasSubstr;

TEST(Variants, PickByValue) {
  const Variants variants({Expr::var("s", 1, 4096)}, {{"s", {1, 16}}});
  ASSERT_EQ(variants.count(), 3u);
  for (auto [value, variant] :
       std::vector<std::pair<int64_t, size_t>>{{1, 0}, {2, 1}, {16, 1}, {17, 2}, {4096, 2}}) {
    EXPECT_EQ(variants.pick({{"s", value}}), variant) << value;
  }
  EXPECT_EQ(variants.text(1), "s = 2 … 16");
  EXPECT_EQ(variants.sizes(1, {{"s", 700}}).find("s"), 16);
  EXPECT_EQ(variants.sizes(2, {{"s", 700}}).find("s"), 700);
  EXPECT_EQ(variants.sizes(2, {}).find("s"), 17);
}

TEST(Variants, OfTwoVariablesAreAllPairs) {
  const Variants variants({Expr::var("p", 0, 10), Expr::var("s", 1, 10)},
                          {{"p", {0}}, {"s", {1, 10}}});
  EXPECT_EQ(variants.count(), 4u) << "nothing is above s = 10";
  EXPECT_EQ(variants.pick({{"p", 0}, {"s", 10}}), 1u);
  EXPECT_EQ(variants.pick({{"p", 5}, {"s", 1}}), 2u);
  EXPECT_EQ(variants.text(2), "p = 1 … 10, s = 1");
}

TEST(Variants, MistakesAreNamed) {
  const std::vector<Expr> variables = {Expr::var("s", 1, 100)};
  EXPECT_THROW(Variants(variables, {{"t", {1}}}), UserError);
  EXPECT_THROW(Variants(variables, {{"s", {16, 1}}}), UserError);
  EXPECT_THROW(Variants(variables, {{"s", {200}}}), UserError);
}

TEST(Variants, AllGiveTheSameValuesAndShareStateAndWeights) {
  Graph graph;
  Expr s = Expr::var("s", 1, 512);
  Tensor x = graph.input("x", {s, 64});
  Tensor w = graph.weight("w", {64, 64}).set(std::vector<float>(64 * 64, 0.125f));
  Tensor runs = graph.state("runs", {1});
  graph.update(runs, runs + 1.0);
  const Tensor weights = softmax(matmul(x, w) * runs.expand({64}), 1);  // all rows, for their max
  Tensor y = (weights - max(weights, 0, {.keepdim = true})).output("y");
  CompileReport report;
  Executable several = compile(graph, {.plan = {.variants = {{"s", {1, 16}}}},
                                       .storage = {.cache_folder = "none"},
                                       .report = &report});
  ASSERT_EQ(report.memory.size(), 3u);
  EXPECT_THAT(report.memory[0].sizes, "s = 1");
  EXPECT_THAT(report.memory[1].sizes, "s = 16");
  EXPECT_GT(report.memory[2].peak, report.memory[0].peak);
  Executable one = compile(graph, {.storage = {.cache_folder = "none"}});
  Executable copy = several.clone();
  for (int64_t size : {1, 300, 16, 17, 2}) {
    std::vector<float> values(static_cast<size_t>(size) * 64);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 19) * 0.1f;
    for (Executable* exe : {&several, &one, &copy}) {
      exe->set(x, values);
      exe->run({{"s", size}});
    }
    const auto a = several.get<float>(y), b = one.get<float>(y);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-6) << size;
    EXPECT_EQ(a, copy.get<float>(y));
    EXPECT_EQ(several.get<float>(runs), one.get<float>(runs));
  }
}

TEST(Variants, KernelsAreMadeForTheirRange) {
  Graph graph;
  const Tensor x = graph.input("x", {Expr::var("s", 1, 512), 64});
  matmul(x, graph.weight("w", {64, 32})).output("y");
  CompileReport report;
  compile(graph, {.plan = {.variants = {{"s", {1, 16}}}},
                  .storage = {.cache_folder = "none"},
                  .report = &report});
  std::vector<std::string> texts;
  for (const KernelReport& kernel : report.kernels) {
    if (!kernel.packs) texts.push_back(kernel.text);
  }
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_THAT(texts[0], HasSubstr("in f32[1, 64]")) << "one row, and no variable";
  EXPECT_THAT(texts[1], HasSubstr("var s 2 16"));
  EXPECT_THAT(texts[2], HasSubstr("var s 17 512"));
}

TEST(Variants, WhatIsFoldedIsComputedOnceForAll) {
  Graph graph;
  Expr s = Expr::var("s", 1, 512);
  Tensor x = graph.input("x", {s, 4});
  Tensor w = graph.weight("w", {4}).set({1.0f, 2.0f, 3.0f, 4.0f});
  Tensor folded = (sin(w) * 0.0 + w * 2.0).materialize();
  Tensor y = (x + folded.unsqueeze(0).expand({s, 4})).output("y");
  Executable exe =
      compile(graph, {.plan = {.variants = {{"s", {1}}}}, .storage = {.cache_folder = "none"}});
  auto steps_of = [&](Executable& of, int64_t size) {
    of.set(x, std::vector<float>(static_cast<size_t>(size) * 4, 1.0f));
    std::ostringstream steps;
    of.run({{"s", size}}, {.debug = true, .out = &steps});
    const std::string text = steps.str();
    return std::count(text.begin(), text.end(), '\n');
  };
  const auto first = steps_of(exe, 1);
  const auto second = steps_of(exe, 2);
  EXPECT_GT(first, second) << "the other variant folds nothing again";
  EXPECT_THAT(exe.get<float>(y), testing::ElementsAre(3, 5, 7, 9, 3, 5, 7, 9));
  exe.release(w);
  Executable copy = exe.clone();
  exe.set(w, {0.0f, 0.0f, 0.0f, 1.0f});
  EXPECT_EQ(steps_of(exe, 2), first) << "new weights are folded by whoever comes first";
  EXPECT_THAT(exe.get<float>(y), testing::ElementsAre(1, 1, 1, 3, 1, 1, 1, 3));
  EXPECT_EQ(steps_of(exe, 1), second);
  EXPECT_THAT(exe.get<float>(y), testing::ElementsAre(1, 1, 1, 3));
  EXPECT_EQ(steps_of(copy, 1), second);
  EXPECT_THAT(copy.get<float>(y), testing::ElementsAre(3, 5, 7, 9)) << "a clone keeps its own";
}

}  // namespace
}  // namespace luminal
