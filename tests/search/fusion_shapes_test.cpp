// What one launch holds with policy `always`, without a rule about any of it: every shape that
// other compilers have fusion rules for, diamonds, joins, and the row kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/luminal.h"

namespace luminal {
namespace {

using Build = Tensor (*)(Graph&, const Tensor& x, const Tensor& y);

struct Shape {
  const char* name;
  Build build;
};

CompileReport report_of(const Graph& graph, FusionPolicy fusion) {
  CompileReport report;
  EXPECT_THROW(compile(graph, {.plan = {.fusion = fusion},
                               .storage = {.cache_folder = "none"},
                               .inspect = {.stop_after = "plan"},
                               .report = &report}),
               CompileStopped);
  return report;
}

// The kernels with everything fused, and with nothing.
void expect_one_kernel(const Shape& shape, DType dtype, Expr rows) {
  SCOPED_TRACE(std::string(shape.name) + " " + std::string(name(dtype)) + " [" + rows.text() + "]");
  Graph graph;
  const Tensor x = graph.input("x", {rows, 48}, dtype);
  const Tensor y = graph.input("y", {rows, 48}, dtype);
  shape.build(graph, x, y).output("z");
  const CompileReport fused = report_of(graph, FusionPolicy::Always);
  EXPECT_EQ(fused.kernels.size(), 1u);
  EXPECT_THAT(fused.notes, testing::IsEmpty());
  EXPECT_GT(report_of(graph, FusionPolicy::Never).kernels.size(), 1u);
}

void expect_one_kernel(std::span<const Shape> shapes) {
  for (const Shape& shape : shapes) {
    for (DType dtype : {DType::F32, DType::BF16}) {
      expect_one_kernel(shape, dtype, 6);
      expect_one_kernel(shape, dtype, Expr::var("s", 0, 512));
    }
  }
}

// The seven families of rules that marker-based fusion needs.
TEST(FusionShapes, TheSevenFamiliesAreOneKernelEach) {
  const Shape shapes[] = {
      {"unary-unary", [](Graph&, const Tensor& x, const Tensor&) { return exp2(sin(x)); }},
      {"binary-unary", [](Graph&, const Tensor& x, const Tensor& y) { return sin(x + y); }},
      {"unary-binary", [](Graph&, const Tensor& x, const Tensor& y) { return sin(x) + y; }},
      {"binary-binary", [](Graph&, const Tensor& x, const Tensor& y) { return (x + y) * x; }},
      {"growth at the start",
       [](Graph&, const Tensor& x, const Tensor& y) { return (exp2(sin(x)) + y) * y; }},
      {"growth at the end",
       [](Graph&, const Tensor& x, const Tensor& y) { return sqrt(exp2(sin(x + y))); }},
      {"merge of two",
       [](Graph&, const Tensor& x, const Tensor& y) { return exp2(sin(x)) * exp2(sin(y)); }},
  };
  expect_one_kernel(shapes);
}

TEST(FusionShapes, DiamondsAreOneKernelAndComputeTheirTipOnce) {
  const Shape shapes[] = {
      {"diamond",
       [](Graph&, const Tensor& x, const Tensor&) {
         const Tensor tip = exp2(x);
         return sin(tip) + tip * tip;
       }},
      {"two diamonds",
       [](Graph&, const Tensor& x, const Tensor& y) {
         const Tensor tip = x * y;
         const Tensor waist = sin(tip) + tip;
         return exp2(waist) * waist;
       }},
      {"diamond through a view",
       [](Graph&, const Tensor& x, const Tensor&) {
         const Tensor tip = exp2(x);
         return tip + tip.flip({1});
       }},
      {"diamond over a reduction",
       [](Graph&, const Tensor& x, const Tensor&) {
         const Tensor tip = exp2(x);
         return tip * sum(tip, 1, {.keepdim = true}).expand_as(tip);
       }},
  };
  expect_one_kernel(shapes);
  Graph graph;
  const Tensor x = graph.input("x", {64});
  const Tensor tip = exp2(x);
  (sin(tip) + tip).output("y");
  const std::string text = report_of(graph, FusionPolicy::Always).kernels.at(0).text;
  EXPECT_EQ(text.find("exp2"), text.rfind("exp2")) << text;
}

Tensor ones(Graph& graph, const Tensor& x, const char* name) {
  return graph.weight(name, {x.dim(-1)}, x.dtype());
}

TEST(FusionShapes, RowKernelsAreOneKernelEach) {
  const Shape shapes[] = {
      {"softmax", [](Graph&, const Tensor& x, const Tensor&) { return softmax(x, -1); }},
      {"log_softmax", [](Graph&, const Tensor& x, const Tensor&) { return log_softmax(x, -1); }},
      {"layer_norm",
       [](Graph& g, const Tensor& x, const Tensor&) {
         return layer_norm(x, {x.dim(-1)}, ones(g, x, "w"), ones(g, x, "b"));
       }},
      {"rms_norm", [](Graph& g, const Tensor& x,
                      const Tensor&) { return rms_norm(x, {x.dim(-1)}, ones(g, x, "w"), 1e-5); }},
      {"add + rms_norm",
       [](Graph& g, const Tensor& x, const Tensor& y) {
         return rms_norm(x + y, {x.dim(-1)}, ones(g, x, "w"), 1e-5);
       }},
      {"softmax of a product",
       [](Graph&, const Tensor& x, const Tensor& y) { return softmax(x * y * 0.125, -1); }},
      {"logsumexp", [](Graph&, const Tensor& x, const Tensor&) { return logsumexp(x, -1); }},
      {"variance", [](Graph&, const Tensor& x, const Tensor&) { return var(x, 1); }},
      {"gelu", [](Graph&, const Tensor& x, const Tensor&) { return gelu(x); }},
      {"swiglu", [](Graph&, const Tensor& x, const Tensor& y) { return silu(x) * y; }},
      {"relu(a·b + c)",
       [](Graph& g, const Tensor& x, const Tensor& y) {
         return relu(x * y + g.input("c", x.dims(), x.dtype()));
       }},
      {"rotary", [](Graph&, const Tensor& x, const Tensor&) { return rotary_embedding(x); }},
  };
  expect_one_kernel(shapes);
}

TEST(FusionShapes, AConcatOfThreeIsOneKernelWithItsProducers) {
  const Shape shapes[] = {
      {"rows", [](Graph&, const Tensor& x,
                  const Tensor& y) { return concat({sin(x), y, exp2(x * y)}, 0); }},
      {"columns", [](Graph&, const Tensor& x,
                     const Tensor& y) { return concat({sin(x), y, exp2(x * y)}, 1); }},
      {"padded",
       [](Graph&, const Tensor& x, const Tensor& y) { return pad_axis(x + y, 1, {2, 3}) * 2.0; }},
  };
  expect_one_kernel(shapes);
}

TEST(FusionShapes, DeadNodesNeverReachAPlan) {
  Graph graph;
  const Tensor x = graph.input("x", {64});
  exp2(softmax(x, 0)).name("unused");
  sin(x).output("y");
  for (FusionPolicy policy : {FusionPolicy::Always, FusionPolicy::Modelled, FusionPolicy::Never}) {
    const CompileReport report = report_of(graph, policy);
    ASSERT_EQ(report.kernels.size(), 1u);
    EXPECT_EQ(report.kernels[0].text.find("exp2"), std::string::npos);
  }
}

TEST(FusionShapes, AViewThatShowsWhatItReadsIsNoCycle) {
  Graph graph;
  const Tensor x = graph.input("x", {3});
  const Tensor y = x.expand({8, 3}).flip({0}).output("y");
  Executable executable = compile(graph, {.storage = {.cache_folder = "none"}});
  executable.set(x, {1, 2, 3});
  executable.run();
  const std::vector<float> got = executable.get<float>(y);
  EXPECT_EQ(got.size(), 24u);
  EXPECT_EQ(std::vector<float>(got.end() - 3, got.end()), (std::vector<float>{1, 2, 3}));
}

TEST(FusionShapes, WhatTwoOutputsShareIsComputedByEachKernelThatNeedsIt) {
  Graph graph;
  const Tensor x = graph.input("x", {64});
  const Tensor shared = exp2(x);
  sin(shared).output("a");
  (shared * 3.0).output("b");
  const CompileReport report = report_of(graph, FusionPolicy::Always);
  EXPECT_LE(report.kernels.size(), 2u);
  EXPECT_THAT(report.notes, testing::IsEmpty());
}

}  // namespace
}  // namespace luminal
