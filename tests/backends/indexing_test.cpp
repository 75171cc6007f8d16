// Concatenation, padding and gathers as parts of one kernel: what is under a condition that doesn't
// hold is read inside its tensor or not at all.
#include "against_interpreter.h"
#include "luminal/graph/primitives.h"

namespace luminal {
namespace {

constexpr DType kDTypes[] = {DType::F32, DType::BF16, DType::F16,
                             DType::I32, DType::U8,   DType::Bool};

void expect_one_kernel(Comparison& comparison) {
  comparison.options.fusion = FusionPolicy::Always;
  comparison.run({{}, {}});
  EXPECT_EQ(comparison.report.kernels.size(), 1u);
}

TEST(Concat, OfThreeProducersIsOneKernel) {
  for (int axis : {0, 1}) {
    Graph graph;
    Tensor a = exp(graph.input("a", {3, 17}));
    Tensor b = graph.input("b", {17, 3}).transpose(0, 1) * 2.0f;
    Tensor c = sqrt(abs(graph.input("c", {3, 17}))) + 1.0f;
    Comparison comparison{graph, {concat({a, b, c}, axis).output("y")}};
    expect_one_kernel(comparison);
  }
}

TEST(Concat, OfRowsThatAreReducedIsOneKernel) {
  Graph graph;
  Tensor x = graph.input("x", {5, 33});
  Tensor y = concat({softmax(x, -1), graph.input("b", {5, 7}), x.slice(1, 0, 4)}, 1).output("y");
  Comparison comparison{graph, {y}};
  expect_one_kernel(comparison);
}

TEST(Concat, IsRightInEveryDTypeAtOddSizes) {
  for (DType dtype : kDTypes) {
    for (int64_t size : {0, 1, 3, 15, 17, 4097}) {
      Graph graph;
      Tensor a = graph.input("a", {2, size}, dtype);
      Tensor b = graph.input("b", {2, 1}, dtype);
      Tensor c = graph.input("c", {2, 16}, dtype);
      Comparison comparison{graph, {concat({a, b, c}, 1).output("y")}};
      expect_one_kernel(comparison);
    }
  }
}

TEST(Concat, OfDynamicPartsIsRightRunAfterRun) {
  Graph graph;
  Expr n = Expr::var("n", 0, 100), m = Expr::var("m", 0, 100);
  Tensor a = graph.input("a", {n, 5}) * 2.0f, b = exp(graph.input("b", {m, 5}));
  Comparison comparison{graph, {concat({a, b, a}, 0).output("y")}};
  comparison.options.fusion = FusionPolicy::Always;
  comparison.run({{{"n", 3}, {"m", 17}},
                  {{"n", 0}, {"m", 4}},
                  {{"n", 9}, {"m", 0}},
                  {{"n", 0}, {"m", 0}},
                  {{"n", 100}, {"m", 100}}});
  EXPECT_EQ(comparison.report.kernels.size(), 1u);
}

TEST(Pad, OfAProducerIsOneKernel) {
  for (DType dtype : kDTypes) {
    for (int64_t size : {0, 1, 16, 17}) {
      Graph graph;
      Tensor x = graph.input("x", {3, size}, dtype);
      Tensor y = pad(x, {{1, 2}, {3, 0}}, 1).output("y");
      Comparison comparison{graph, {y}};
      expect_one_kernel(comparison);
    }
  }
}

TEST(Gather, OfComputedDataStoresTheData) {
  Graph graph;
  Tensor data = exp(graph.input("x", {9, 20}));
  Tensor index = graph.input("index", {6}, DType::I64);
  Tensor y = (embedding(data, index) * 2.0f).output("y");
  Comparison comparison{graph, {y}, {.fusion = FusionPolicy::Always}, {{"index", 9}}};
  comparison.run({{}, {}});
  EXPECT_EQ(comparison.report.kernels.size(), 2u);
}

// Rows turned round by a few: the row that an index names is found below zero, and wraps, or is
// kept within bounds.
TEST(Gather, OfAViewThatWrapsBelowZero) {
  for (Expr rows : {Expr(12), Expr::var("s", 1, 9) * 4}) {
    Graph graph;
    Tensor data = graph.input("x", {rows, 3}, DType::I32);
    const Expr i = Expr::index(0, rows), j = Expr::index(1, 3);
    const Expr shifted = (i - 3) % rows;
    const IndexMap turned({rows, 3}, {rows, 3}, {shifted, j});
    const IndexMap halved({rows, 3}, {rows, 3}, {((i - 3) / 2 + rows) % rows, j});
    Tensor index = graph.input("index", {6}, DType::I64);
    Tensor y = embedding(prim::view(data, turned), index).output("y");
    Tensor z = embedding(prim::view(data, halved), index).output("z");
    const IndexMap kept({rows, 3}, {rows, 3}, {max(min(i * 2 - 1, rows - 1), 0), j});
    Tensor w = embedding(prim::view(data, kept), index).output("w");
    Comparison comparison{graph, {y, z, w}, {.fusion = FusionPolicy::Always}, {{"index", 4}}};
    if (rows.to_int()) {
      comparison.run({{}});
    } else {
      comparison.run({{{"s", 1}}, {{"s", 3}}});
    }
  }
}

// Whether a row is padding is decided by the index that names it.
TEST(Gather, OfPaddedRowsIsRightInEveryDType) {
  for (DType dtype : kDTypes) {
    Graph graph;
    Tensor data = graph.input("x", {5, 3}, dtype);
    Tensor joined = concat({data, graph.input("b", {4, 3}, dtype)}, 0);
    Tensor index = graph.input("index", {12}, DType::I64);
    Tensor y = embedding(joined, index).output("y");
    for (FusionPolicy fusion : {FusionPolicy::Always, FusionPolicy::Never}) {
      Comparison comparison{graph, {y}, {.fusion = fusion}, {{"index", 9}}};
      comparison.run({{}, {}});
    }
  }
}

TEST(Gather, UnderAReductionIsOneKernel) {
  Graph graph;
  Tensor index = graph.input("index", {4, 6}, DType::I32) + 1;
  Tensor y = sum(embedding(graph.weight("w", {9, 20}), index), {1}).output("y");
  Comparison comparison{graph, {y}, {.fusion = FusionPolicy::Always}, {{"index", 8}}};
  comparison.run({{}, {}});
  EXPECT_EQ(comparison.report.kernels.size(), 1u);
}

// What is read through a view at a gathered row can't be computed there: it is stored, alone.
TEST(Gather, OfAViewOfAReductionStoresTheReduction) {
  Graph graph;
  Tensor x = graph.input("x", {9, 5, 20});
  Tensor rows = sum(exp(x), {-1}).transpose(0, 1);
  Tensor index = graph.input("index", {6}, DType::I64);
  Tensor scale = max(graph.input("z", {9, 33}), {-1}, {.keepdim = true}).expand({9, 6});
  Tensor y = (embedding(rows, index).transpose(0, 1) * scale).output("y");
  for (FusionPolicy fusion : {FusionPolicy::Always, FusionPolicy::Modelled, FusionPolicy::Never}) {
    Comparison comparison{graph, {y}, {.fusion = fusion}, {{"index", 5}}};
    comparison.run({{}, {}});
    if (fusion == FusionPolicy::Always) {
      EXPECT_EQ(comparison.report.kernels.size(), 2u);
    }
  }
}

}  // namespace
}  // namespace luminal
