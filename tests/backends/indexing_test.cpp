// Concatenation, padding and gathers as parts of one kernel: what is under a condition that doesn't
// hold is read inside its tensor or not at all.
#include <gmock/gmock.h>

#include "against_interpreter.h"
#include "luminal/base/errors.h"
#include "luminal/graph/primitives.h"

namespace luminal {
namespace {

constexpr DType kIndexedDTypes[] = {DType::F32, DType::BF16, DType::F16,
                                    DType::I32, DType::U8,   DType::Bool};

void expect_one_kernel(Comparison& comparison) {
  comparison.options.plan.fusion = FusionPolicy::Always;
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
  for (DType dtype : kIndexedDTypes) {
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
  comparison.options.plan.fusion = FusionPolicy::Always;
  comparison.run({{{"n", 3}, {"m", 17}},
                  {{"n", 0}, {"m", 4}},
                  {{"n", 9}, {"m", 0}},
                  {{"n", 0}, {"m", 0}},
                  {{"n", 100}, {"m", 100}}});
  EXPECT_EQ(comparison.report.kernels.size(), 1u);
}

TEST(Pad, OfAProducerIsOneKernel) {
  for (DType dtype : kIndexedDTypes) {
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
  Comparison comparison{graph, {y}, {.plan = {.fusion = FusionPolicy::Always}}, {{"index", 9}}};
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
    Comparison comparison{
        graph, {y, z, w}, {.plan = {.fusion = FusionPolicy::Always}}, {{"index", 4}}};
    if (rows.to_int()) {
      comparison.run({{}});
    } else {
      comparison.run({{{"s", 1}}, {{"s", 3}}});
    }
  }
}

// Whether a row is padding is decided by the index that names it.
TEST(Gather, OfPaddedRowsIsRightInEveryDType) {
  for (DType dtype : kIndexedDTypes) {
    Graph graph;
    Tensor data = graph.input("x", {5, 3}, dtype);
    Tensor joined = concat({data, graph.input("b", {4, 3}, dtype)}, 0);
    Tensor index = graph.input("index", {12}, DType::I64);
    Tensor y = embedding(joined, index).output("y");
    for (FusionPolicy fusion : {FusionPolicy::Always, FusionPolicy::Never}) {
      Comparison comparison{graph, {y}, {.plan = {.fusion = fusion}}, {{"index", 9}}};
      comparison.run({{}, {}});
    }
  }
}

TEST(Gather, UnderAReductionIsOneKernel) {
  Graph graph;
  Tensor index = graph.input("index", {4, 6}, DType::I32) + 1;
  Tensor y = sum(embedding(graph.weight("w", {9, 20}), index), {1}).output("y");
  Comparison comparison{graph, {y}, {.plan = {.fusion = FusionPolicy::Always}}, {{"index", 8}}};
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
    Comparison comparison{graph, {y}, {.plan = {.fusion = fusion}}, {{"index", 5}}};
    comparison.run({{}, {}});
    if (fusion == FusionPolicy::Always) {
      EXPECT_EQ(comparison.report.kernels.size(), 2u);
    }
  }
}

// Vectors divide as doubles, which hold integers up to 2^53 only.
TEST(IndexDivision, IsExactForLargeValues) {
  Graph graph;
  const Expr s = Expr::var("s", 1), i = Expr::index(0, 64);
  const Expr expressions[] = {
      (s * s + i) % 7,
      (s * s + i) / 7,
      ceil_div(max(s * s, i), s),
      (i * int64_t{144115188075855869}) % 7,
      (i * int64_t{144115188075855869} - int64_t{4611686018427387904}) / 1000003,
      (i * int64_t{144115188075855869} - int64_t{4611686018427387904}) % -1000003,
      (s * s * 2 - i) / (s + i),
      (s * s - i * s) % (s * 2097152 + 1),
      (i - s * s) / (i + s),
  };
  std::vector<Tensor> outputs;
  for (Expr e : expressions) {
    outputs.push_back(prim::iota(graph, e, {64}, DType::I64).output(e.text()));
  }
  for (const char* target : {"sse2", "avx2", ""}) {
    Comparison comparison{graph, outputs};
    comparison.options.backend.target = target;
    comparison.run({{{"s", 2147483639}}, {{"s", 1}}, {{"s", 2147483647}}});
  }
}

// A remainder outside of its range would read outside of the buffer.
TEST(IndexDivision, OfLargeValuesReadsInside) {
  Graph graph;
  Tensor x = graph.input("x", {7});
  const Expr at = max(Expr::index(0, 64) * int64_t{144115188075855869}, 5) % 7;
  Comparison comparison{graph, {prim::view(x, IndexMap({64}, {7}, {at})).output("y")}};
  comparison.run({{}});
}

// A slice whose start is known in the run: inside it is read, outside it is an error with both back
// ends, and the next run is as good as any.
TEST(SliceAtAVariable, IsCheckedInEachRun) {
  for (const char* backend : {"cpu", "interp"}) {
    Graph graph;
    const Expr p = Expr::var("p", 0, 100), n = Expr::var("n", 0, 100);
    Tensor x = graph.input("x", {16, 3});
    const Expr i0 = Expr::index(0, n), i1 = Expr::index(1, 3);
    Tensor y = prim::view(x, IndexMap({n, 3}, {16, 3}, {i0 + p, i1})).output("y");
    CompileOptions options;
    options.backend.name = backend;
    options.storage.cache_folder = "none";
    Executable executable = compile(graph, options);
    std::vector<float> values;
    for (int i = 0; i < 48; ++i) values.push_back(static_cast<float>(i));
    executable.set(x, values);
    executable.run({{"p", 13}, {"n", 3}});
    EXPECT_EQ(executable.get<float>(y).front(), 39);
    try {
      executable.run({{"p", 14}, {"n", 3}});
      ADD_FAILURE() << "read outside";
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("reads outside axis 0 of [16, 3], which has 16 "
                                                   "elements at n = 3, p = 14: i0 + p reaches 16"));
    }
    executable.run({{"p", 100}, {"n", 0}});  // nothing is read
    executable.run({{"p", 1}, {"n", 15}});
    EXPECT_EQ(executable.get<float>(y).back(), 47);
  }
}

// As scalars and in vectors, and where a gathered row makes them integer instructions.
TEST(IndexExpressions, LogicAndDivisionMeanTheSameOnTheCpu) {
  const Expr s = Expr::var("s", -3, 3), i = Expr::index(0, 37), j = Expr::index(1, 5);
  const Expr exprs[] = {i && 7,
                        (i && 7) * 3 + (j || 0),
                        (i + 1) / s,
                        (i - 20) % s,
                        ceil_div(i - 3, s),
                        (i * j) / (s * j),
                        (i % 4) || (j / s)};
  for (Expr expr : exprs) {
    SCOPED_TRACE(expr.text());
    Graph graph;
    Tensor y = prim::iota(graph, expr, {37, 5}, DType::I64).output("y");
    Comparison comparison{graph, {y}};
    if (expr.variables().empty()) {
      comparison.run({{}});
    } else {
      comparison.run({{{"s", 0}}, {{"s", 2}}, {{"s", -3}}});
    }
  }
}

TEST(IndexExpressions, OfAGatheredRowMeanTheSameOnTheCpu) {
  const Expr s = Expr::var("s", -3, 3), i = Expr::index(0, 37);
  const auto within = [](Expr e) { return max(min(e, 12), 0); };
  for (Expr expr : {within(i && 7), within((i - 20) / s + 6), within((i - 20) % s + 6),
                    within(ceil_div(i - 20, s) + 6), within(i / -3 + 12), within(i % -5 + 5)}) {
    SCOPED_TRACE(expr.text());
    Graph graph;
    Tensor table = prim::view(graph.input("x", {13}), IndexMap({37}, {13}, {expr}));
    Tensor y = prim::gather(table, graph.input("rows", {50}, DType::I64)).output("y");
    Comparison comparison{graph, {y}, {.plan = {.fusion = FusionPolicy::Always}}, {{"rows", 37}}};
    if (expr.variables().empty()) {
      comparison.run({{}});
    } else {
      comparison.run({{{"s", 0}}, {{"s", 2}}, {{"s", -3}}});
    }
  }
}

}  // namespace
}  // namespace luminal
