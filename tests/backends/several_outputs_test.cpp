// Kernels with several outputs are right: in every size and dtype, and with a dynamic dim.
#include "against_interpreter.h"

namespace luminal {
namespace {

struct Case {
  const char* name;
  std::vector<Tensor> (*build)(Graph& graph, const Tensor& x);
};

const Case kCases[] = {
    {"pointwise",
     [](Graph&, const Tensor& x) {
       return std::vector{(x + 1.0f).output("y"), (x * 2.0f).output("z")};
     }},
    {"mean and variance",
     [](Graph&, const Tensor& x) {
       return std::vector{mean(x, {-1}).output("y"), var(x, {-1}, {.correction = 0}).output("z")};
     }},
    {"stream and norm",
     [](Graph& graph, const Tensor& x) {
       Tensor sum = (x + graph.input("r", x.dims(), x.dtype())).output("y");
       Tensor weight = graph.weight("w", {x.dim(-1)}, x.dtype());
       return std::vector{sum, rms_norm(sum, {x.dim(-1)}, weight, 1e-5).output("z")};
     }},
    {"softmax and its logarithm's parts",
     [](Graph&, const Tensor& x) {
       return std::vector{softmax(x, -1).output("y"), logsumexp(x, {-1}).output("z"),
                          max(x, {-1}).output("m")};
     }},
    {"a chain of outputs",
     [](Graph&, const Tensor& x) {
       Tensor a = sin(x).output("a");
       Tensor b = (a * 3.0f).output("b");
       return std::vector{a, b, (a + b).output("c")};
     }},
    {"scan and its last",
     [](Graph&, const Tensor& x) {
       Tensor total = cumsum(x, -1).output("y");
       return std::vector{total, (total + x).output("z")};
     }},
};

void check(const Case& shape, DType dtype, Expr rows, int64_t width,
           const std::vector<Bindings>& runs) {
  for (FusionPolicy fusion : {FusionPolicy::Modelled, FusionPolicy::Always}) {
    SCOPED_TRACE(std::string(shape.name) + " " + std::string(name(dtype)) + " [" + rows.text() +
                 ", " + std::to_string(width) + "]");
    Graph graph;
    const std::vector<Tensor> results = shape.build(graph, graph.input("x", {rows, width}, dtype));
    Comparison comparison{graph, results, {.plan = {.fusion = fusion}}};
    comparison.relative = 1e-4;
    comparison.run(runs);
    if (fusion == FusionPolicy::Always) {
      EXPECT_EQ(comparison.report.kernels.size(), 1u);
    }
  }
}

TEST(SeveralOutputs, AreRightAtFixedSizes) {
  for (const Case& shape : kCases) {
    for (int64_t width : {3, 16, 17, 1025}) check(shape, DType::F32, 5, width, {{}, {}});
  }
}

TEST(SeveralOutputs, AreRightIn16Bits) {
  for (const Case& shape : kCases) check(shape, DType::BF16, 5, 17, {{}, {}});
}

TEST(SeveralOutputs, AreRightWithADynamicDim) {
  for (const Case& shape : kCases) {
    check(shape, DType::F32, Expr::var("s", 0, 4096), 34,
          {{{"s", 17}}, {{"s", 1}}, {{"s", 0}}, {{"s", 16}}});
  }
}

TEST(SeveralOutputs, HaveTheSameBitsWithAnyNumberOfThreads) {
  Graph graph;
  Tensor x = graph.input("x", {513, 1025});
  Tensor y = softmax(x, -1).output("y");
  logsumexp(x, {-1}).output("z");
  expect_same_bits(graph, y);
}

}  // namespace
}  // namespace luminal
