// The number of threads changes no bit: over the patterns and the shapes of reductions, at sizes
// where two threads really share a kernel. Random graphs check the same (tests/random_graphs).
#include <gtest/gtest.h>

#include "luminal/luminal.h"
#include "tests/support/random_graph.h"

namespace luminal {
namespace {

struct Pattern {
  const char* name;
  Tensor (*build)(Graph& graph, const Tensor& x);
};

Tensor weight(Graph& graph, const Tensor& x, const char* name) {
  return graph.weight(name, {x.dim(-1)}, x.dtype());
}

const Pattern kPatterns[] = {
    {"add", [](Graph& g, const Tensor& x) { return x + g.input("y", x.dims(), x.dtype()); }},
    {"softmax", [](Graph&, const Tensor& x) { return softmax(x, -1); }},
    {"softmax over rows", [](Graph&, const Tensor& x) { return softmax(x, 0); }},
    {"log_softmax", [](Graph&, const Tensor& x) { return log_softmax(x, -1); }},
    {"layer_norm",
     [](Graph& g, const Tensor& x) {
       return layer_norm(x, {x.dim(-1)}, weight(g, x, "w"), weight(g, x, "b"));
     }},
    {"rms_norm",
     [](Graph& g, const Tensor& x) { return rms_norm(x, {x.dim(-1)}, weight(g, x, "w"), 1e-5); }},
    {"gelu", [](Graph&, const Tensor& x) { return gelu(x); }},
    {"rotary", [](Graph&, const Tensor& x) { return rotary_embedding(x); }},
    {"transpose", [](Graph&, const Tensor& x) { return exp2(x.t()); }},
    {"sum of all", [](Graph&, const Tensor& x) { return sum(x.flatten(), 0); }},
    {"sum of rows", [](Graph&, const Tensor& x) { return sum(x, 1); }},
    {"sum of columns", [](Graph&, const Tensor& x) { return sum(x, 0); }},
    {"maximum of all", [](Graph&, const Tensor& x) { return max(x.flatten(), 0); }},
    {"cumulative sum", [](Graph&, const Tensor& x) { return cumsum(x, 1); }},
    {"matmul",
     [](Graph& g, const Tensor& x) {
       return matmul(x, g.weight("w", {x.dim(-1), 24}, x.dtype()));
     }},
};

// After one run over data that depends on the seed alone.
std::vector<std::byte> result_of(Graph& graph, const Tensor& y, int threads,
                                 const Bindings& sizes) {
  Executable executable = compile(graph, {.backend = {.threads = threads},
                                          .plan = {.fusion = FusionPolicy::Always},
                                          .storage = {.cache_folder = "none"}});
  tests::RandomSource random(3);
  for (NodeId id : graph.leaves()) {
    const Node& node = graph.node(id);
    std::vector<int64_t> dims;
    for (Expr dim : node.dims) dims.push_back(dim.evaluate(sizes).value.value());
    executable.set(graph.tensor(id), tests::random_data(node.dtype, dims, random));
  }
  executable.run(sizes);
  const TensorData data = executable.get_data(y);
  return {data.bytes.begin(), data.bytes.end()};
}

TEST(SameBits, WithAnyNumberOfThreads) {
  for (const Pattern& pattern : kPatterns) {
    for (DType dtype : {DType::F32, DType::BF16}) {
      // Many rows, few long ones, and sizes that no vector and no pair of threads divides.
      for (auto [rows, columns] : {std::pair{515, 130}, {3, 20002}, {1, 60002}}) {
        SCOPED_TRACE(std::string(pattern.name) + " " + std::string(name(dtype)) + " [" +
                     std::to_string(rows) + ", " + std::to_string(columns) + "]");
        Graph graph;
        const Expr s = Expr::var("s", 1, 1000);
        const Tensor x = graph.input("x", {s, columns}, dtype);
        const Tensor y = pattern.build(graph, x).output("y");
        const Bindings sizes{{"s", rows}};
        const std::vector<std::byte> one = result_of(graph, y, 1, sizes);
        EXPECT_EQ(result_of(graph, y, 2, sizes), one);
        EXPECT_EQ(result_of(graph, y, 3, sizes), one);
      }
    }
  }
}

}  // namespace
}  // namespace luminal
