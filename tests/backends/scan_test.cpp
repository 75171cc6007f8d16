// Scans in kernels: right along odd sizes, in every dtype and with a dynamic dim, fused with what
// is before and after them, and the same bits with any number of threads.
#include "against_interpreter.h"

namespace luminal {
namespace {

constexpr DType kScanDTypes[] = {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64,
                                 DType::I32, DType::I16, DType::I8,  DType::U8,   DType::Bool};

TEST(Scan, IsRightAtOddSizesInEveryDType) {
  for (DType dtype : kScanDTypes) {
    for (int64_t size : {0, 1, 3, 15, 16, 17, 4097}) {
      for (Reducer reducer : {Reducer::Sum, Reducer::Max}) {
        SCOPED_TRACE(std::string(name(dtype)) + " " + std::to_string(size));
        Graph graph;
        Tensor y = prim::scan(graph.input("x", {3, size}, dtype), reducer).output("y");
        Comparison comparison{graph, {y}};
        comparison.relative = 2e-4;  // sums near zero of thousands
        comparison.run({{}, {}});
        EXPECT_TRUE(comparison.report.notes.empty());
        // Of none and of one element a rule says that it is x, which needs no kernel.
        EXPECT_EQ(comparison.report.kernels.size(), size > 1 ? 1u : 0u);
      }
    }
  }
}

TEST(Scan, OfADynamicDimIsRightRunAfterRun) {
  for (DType dtype : {DType::F32, DType::BF16, DType::I32}) {
    Graph graph;
    Expr n = Expr::var("n", 0, 5000);
    Tensor y = cumsum(graph.input("x", {2, n}, dtype), 1).output("y");
    Comparison comparison{graph, {y}};
    comparison.relative = 2e-4;
    comparison.run({{{"n", 17}}, {{"n", 4097}}, {{"n", 0}}, {{"n", 1}}, {{"n", 16}}});
  }
}

// The lanes are other rows where that reads and writes in order.
TEST(Scan, AlongAnOuterAxisIsRight) {
  for (DType dtype : {DType::F32, DType::F16, DType::I8, DType::Bool}) {
    for (int64_t rows : {1, 5, 33}) {
      Graph graph;
      Tensor x = graph.input("x", {rows, 37}, dtype);
      Tensor y = (dtype == DType::Bool ? cummax(x, 0) : cumsum(x, 0)).output("y");
      Comparison comparison{graph, {y}};
      comparison.run({{}, {}});
    }
  }
}

TEST(Scan, FusesWithProducersAndWithReadersOfItsRow) {
  Graph graph;
  Tensor x = graph.input("x", {5, 67});
  Tensor total = cumsum(exp(x), -1);
  Tensor share = total / sum(exp(x), {-1}, {.keepdim = true}).expand(total.dims());
  Tensor y = share.output("y");
  Comparison comparison{graph, {y}, {.plan = {.fusion = FusionPolicy::Always}}};
  comparison.run({{}, {}});
  EXPECT_EQ(comparison.report.kernels.size(), 1u);
}

TEST(Scan, IsReadInAnyOrderFromItsRow) {
  Graph graph;
  Tensor x = graph.input("x", {5, 67});
  Tensor total = cumsum(x, -1);
  Tensor y = (total.flip({1}) + total * 2.0f).output("y");
  Tensor z = sum(total, {-1}).output("z");
  Comparison comparison{graph, {y, z}, {.plan = {.fusion = FusionPolicy::Always}}};
  comparison.relative = 1e-4;
  comparison.run({{}, {}});
}

// One element, by a kernel that has no loops of its own.
TEST(Scan, IsReadAtOneElement) {
  Graph graph;
  Tensor scanned = prim::scan(graph.input("x", {7, 5, 4}), Reducer::Max);
  Tensor y = prim::view(scanned, IndexMap({}, scanned.dims(), {3, 1, 2})).output("y");
  Comparison comparison{graph, {y}, {.plan = {.fusion = FusionPolicy::Always}}};
  comparison.run({{}, {}});
}

TEST(Scan, OfAScanIsRight) {
  Graph graph;
  Tensor y = cummax(cumsum(graph.input("x", {3, 40}), -1) * 0.5f, -1).output("y");
  Comparison comparison{graph, {y}, {.plan = {.fusion = FusionPolicy::Always}}};
  comparison.run({{}});
  EXPECT_EQ(comparison.report.kernels.size(), 1u);
}

TEST(Scan, UnderAGatherIsStored) {
  Graph graph;
  Tensor total = cumsum(graph.input("x", {30, 8}), -1);
  Tensor index = graph.input("index", {6}, DType::I64);
  Tensor y = index_select(total.transpose(0, 1), 0, index).output("y");
  Comparison comparison{graph, {y}, {.plan = {.fusion = FusionPolicy::Always}}, {{"index", 8}}};
  comparison.run({{}});
}

TEST(Scan, HasTheSameBitsWithAnyNumberOfThreads) {
  Graph graph;
  Tensor y = cumsum(graph.input("x", {257, 4097}), -1).output("y");
  expect_same_bits(graph, y);
}

TEST(Scan, OfNanAndInfinityIsOrdered) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Graph graph;
  Tensor x = graph.input("x", {6});
  Tensor y = cummax(x, 0).output("y");
  Executable exe = compile(graph, {.storage = {.cache_folder = "none"}});
  exe.set(x, std::vector<float>{-inf, -3, 2, nan, 5, inf});
  exe.run();
  const std::vector<float> got = exe.get<float>(y);
  EXPECT_EQ(std::vector<float>(got.begin(), got.begin() + 3), (std::vector<float>{-inf, -3, 2}));
  for (size_t i = 3; i < 6; ++i) EXPECT_TRUE(std::isnan(got[i]));
}

// An index below 1 is the constant 0, so the row of such a scan and its element look alike.
TEST(Scan, AlongADimOfAtMostOneElementIsItsOperand) {
  for (Expr size : {Expr::var("s", 0, 1), Expr::var("s", 1, 1), Expr(0), Expr(1)}) {
    for (Reducer reducer : {Reducer::Sum, Reducer::Prod, Reducer::Max}) {
      for (DType dtype : {DType::F32, DType::BF16, DType::I32, DType::Bool}) {
        SCOPED_TRACE(size.text() + " " + std::string(name(dtype)));
        Graph graph;
        Tensor x = graph.input("x", {3, size}, dtype);
        Tensor scanned = prim::scan(x, reducer);
        Tensor same = prim::equal(scanned, graph.input("z", {3, size}, dtype)).output("same");
        Tensor last = prim::scan(prim::mul(scanned, scanned), reducer).output("last");
        std::vector<Bindings> runs = {{}};
        if (size.kind() == ExprKind::Var) {
          runs = {{{"s", 1}}};
          if (size.lower_bound() == 0) runs.push_back({{"s", 0}});
        }
        std::vector<FusionPolicy> policies = {FusionPolicy::Always};
        if (dtype == DType::F32 && size.kind() == ExprKind::Var) {
          policies = {FusionPolicy::Modelled, FusionPolicy::Always, FusionPolicy::Never};
        }
        for (FusionPolicy fusion : policies) {
          Comparison comparison{graph, {same, last}, {.plan = {.fusion = fusion}}};
          comparison.run(runs);
        }
      }
    }
  }
}

TEST(Scan, OfAVariantWithOneElementIsItsOperand) {
  Graph graph;
  Tensor total = cumsum(graph.input("x", {8, Expr::var("s", 0, 4096)}), 1);
  Tensor y = (total * total).output("y");
  Comparison comparison{graph, {y}};
  comparison.options.plan.variants = {{"s", {0, 1}}};
  comparison.run({{{"s", 1}}, {{"s", 17}}, {{"s", 0}}});
}

}  // namespace
}  // namespace luminal
