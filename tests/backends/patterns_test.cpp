// The seven shapes that must be one kernel each, on the CPU: right in f32 and bf16, at odd sizes
// and with a dynamic dim, run after run on the same executable.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "luminal/luminal.h"

namespace luminal {
namespace {

struct Case {
  const char* name;
  Tensor (*build)(Graph& graph, const Tensor& x);
};

Tensor weight(Graph& graph, const Tensor& x, const char* name) {
  return graph.weight(name, {x.dim(-1)}, x.dtype());
}

const Case kCases[] = {
    {"softmax", [](Graph&, const Tensor& x) { return softmax(x, -1); }},
    {"layer_norm",
     [](Graph& g, const Tensor& x) {
       return layer_norm(x, {x.dim(-1)}, weight(g, x, "w"), weight(g, x, "b"));
     }},
    {"rms_norm",
     [](Graph& g, const Tensor& x) { return rms_norm(x, {x.dim(-1)}, weight(g, x, "w"), 1e-5); }},
    {"gelu", [](Graph&, const Tensor& x) { return gelu(x); }},
    {"swiglu",
     [](Graph& g, const Tensor& x) { return silu(x) * g.input("up", x.dims(), x.dtype()); }},
    {"rotary", [](Graph&, const Tensor& x) { return rotary_embedding(x); }},
    {"add_rms_norm",
     [](Graph& g, const Tensor& x) {
       return rms_norm(x + g.input("r", x.dims(), x.dtype()), {x.dim(-1)}, weight(g, x, "w"), 1e-5);
     }},
};

// Fills every leaf of both executables with the same numbers.
void fill(const Graph& graph, int64_t rows, int64_t width, std::mt19937& random, Graph& owner,
          Executable& a, Executable& b) {
  std::normal_distribution<float> normal;
  for (NodeId leaf : graph.leaves()) {
    const bool whole = graph.node(leaf).dims.size() == 2;
    std::vector<float> values(static_cast<size_t>(whole ? rows * width : width));
    for (float& value : values) value = normal(random);
    a.set(owner.tensor(leaf), values);
    b.set(owner.tensor(leaf), values);
  }
}

void check(const Case& pattern, DType dtype, Expr rows, int64_t width,
           const std::vector<int64_t>& runs) {
  SCOPED_TRACE(std::string(pattern.name) + " " + std::string(name(dtype)) + " [" + rows.text() +
               ", " + std::to_string(width) + "]");
  Graph graph;
  Tensor y = pattern.build(graph, graph.input("x", {rows, width}, dtype)).output("y");
  CompileReport report;
  Executable cpu = compile(graph, {.backend = {.name = "cpu"},
                                   .plan = {.fusion = FusionPolicy::Always},
                                   .storage = {.cache_folder = "none"},
                                   .report = &report});
  ASSERT_EQ(report.kernels.size(), 1u);
  Executable exact = compile(graph, {.backend = {.name = "interp", .float64 = true}});
  std::mt19937 random(7);
  // One rounding of the dtype, and a few of f32 on the way.
  const double relative = dtype == DType::BF16 ? 0x1p-7 : 2e-5;
  // An angle of thousands of radians is itself rounded to f32.
  const double angle = std::string(pattern.name) == "rotary" ? 5e-4 : 0;
  for (int64_t size : runs) {
    fill(graph, size, width, random, graph, cpu, exact);
    const Bindings bindings = rows.to_int() ? Bindings{} : Bindings{{"s", size}};
    cpu.run(bindings);
    exact.run(bindings);
    const std::vector<double> got = cpu.get<double>(y);
    const std::vector<double> wanted = exact.get<double>(y);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], wanted[i], relative * std::abs(wanted[i]) + relative * 0.1 + angle)
          << "element " << i << " at size " << size;
    }
  }
}

TEST(Patterns, AreRightAtFixedSizes) {
  for (const Case& pattern : kCases) {
    for (DType dtype : {DType::F32, DType::BF16}) {
      for (int64_t width : {1, 3, 16, 17, 4096}) {
        const bool pairs = std::string(pattern.name) == "rotary";
        check(pattern, dtype, 3, pairs ? 2 * width : width, {3, 3, 3});
      }
    }
  }
}

TEST(Patterns, AreRightWithADynamicDim) {
  for (const Case& pattern : kCases) {
    for (DType dtype : {DType::F32, DType::BF16}) {
      check(pattern, dtype, Expr::var("s", 0, 4096), 34, {17, 1, 3, 0, 16});
      check(pattern, dtype, Expr::var("s", 1, 4096), 16, {4096, 3, 1});
    }
  }
}

}  // namespace
}  // namespace luminal
