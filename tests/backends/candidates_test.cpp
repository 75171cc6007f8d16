// Every candidate that the cpu backend offers for a kernel computes what the default computes: to
// the bit where its knobs only change the time, up to rounding where sums may be ordered otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "luminal/backends/registry/registry.h"
#include "luminal/driver/compile/compilation.h"
#include "luminal/luminal.h"
#include "tests/support/random_graph.h"

namespace luminal {
namespace {

struct TriedCase {
  const char* name;
  std::function<Tensor(Graph&)> build;
  FusionPolicy fusion = FusionPolicy::Modelled;
};

Tensor product(Graph& g, int64_t rows, int64_t k, int64_t columns, DType dtype) {
  const Tensor x = g.input("x", {rows, k}, dtype);
  return gelu(matmul(x, g.weight("w", {k, columns}, dtype)));
}

Tensor convolution(Graph& g, int64_t pixels, const Conv2dOptions& options) {
  const Tensor w = g.weight("w", {24, 16 / options.groups, 3, 3});
  return relu(conv2d(g.input("x", {1, 16, pixels, pixels}), w, std::nullopt, options));
}

// u4 weights with a scale per 32 of them.
Tensor quantised(Graph& g, int64_t rows) {
  const Tensor w = g.weight("w", {48, 4, 32}, DType::U4);
  const Tensor scale = g.weight("scale", {48, 4, 1});
  const Tensor wide = ((w.cast(DType::F32) - 8.0) * scale.expand({48, 4, 32})).reshape({48, 128});
  return matmul(g.input("x", {rows, 128}), wide.t());
}

Tensor attend(Graph& g, int64_t queries, int64_t keys, DType dtype = DType::F32) {
  const auto of = [&](const char* name, int64_t rows, DType as) {
    return g.input(name, {2, rows, 32}, as).cast(DType::F32);
  };
  const Tensor q = of("q", queries, DType::F32), k = of("k", keys, dtype), v = of("v", keys, dtype);
  return matmul(softmax(matmul(q, k.permute({0, 2, 1})) * 0.2, -1), v);
}

const std::vector<TriedCase>& tried_cases() {
  static const std::vector<TriedCase> all = {
      {"matmul", [](Graph& g) { return product(g, 37, 300, 200, DType::F32); }},
      {"square matmul", [](Graph& g) { return product(g, 64, 64, 64, DType::F32); }},
      {"deep matmul", [](Graph& g) { return product(g, 5, 1500, 33, DType::F32); }},
      {"gemv", [](Graph& g) { return product(g, 1, 257, 130, DType::F32); }},
      {"convolution", [](Graph& g) { return convolution(g, 28, {.padding = 1}); }},
      {"grouped convolution with a stride",
       [](Graph& g) { return convolution(g, 19, {.stride = 2, .padding = 1, .groups = 2}); }},
      {"matmul of bf16", [](Graph& g) { return product(g, 17, 256, 96, DType::BF16); }},
      {"matmul of f16", [](Graph& g) { return product(g, 3, 128, 48, DType::F16); }},
      {"quantised gemv", [](Graph& g) { return quantised(g, 1); }},
      {"quantised, few rows", [](Graph& g) { return quantised(g, 5); }},
      {"quantised, many rows", [](Graph& g) { return quantised(g, 40); }},
      {"attention", [](Graph& g) { return attend(g, 70, 90); }},
      {"attention of one query", [](Graph& g) { return attend(g, 1, 900); }},
      {"attention to few keys", [](Graph& g) { return attend(g, 1, 160); }, FusionPolicy::Always},
      {"attention of a few queries", [](Graph& g) { return attend(g, 9, 160); },
       FusionPolicy::Always},
      {"attention to an odd number of bf16 keys",
       [](Graph& g) { return attend(g, 3, 77, DType::BF16); }, FusionPolicy::Always},
      {"attention to f16 keys", [](Graph& g) { return attend(g, 1, 300, DType::F16); },
       FusionPolicy::Always},
      {"softmax", [](Graph& g) { return softmax(g.input("x", {33, 1000}), -1); }},
      {"softmax of bf16",
       [](Graph& g) { return softmax(g.input("x", {9, 513}, DType::BF16), -1); }},
      {"element-wise", [](Graph& g) { return exp2(g.input("x", {300, 400}) * 0.5) + 1.0; }},
      {"integers", [](Graph& g) { return g.input("x", {300, 401}, DType::I32) * 3 + 1; }},
      {"transpose", [](Graph& g) { return g.input("x", {123, 77}).t() * 2.0; }},
      {"norm",
       [](Graph& g) {
         return rms_norm(g.input("x", {50, 640}), {640}, g.weight("w", {640}), 1e-5);
       }},
      {"cumulative sum", [](Graph& g) { return cumsum(g.input("x", {16, 500}), 1); }}};
  return all;
}

using Change = std::function<void(kernel::KernelStep&)>;

std::vector<std::byte> run_with(Graph& graph, const Tensor& y, FusionPolicy fusion,
                                const Change& change, const std::string& target,
                                std::vector<kernel::KernelStep>* steps) {
  const CompileOptions options{.backend = {.target = target, .threads = 2},
                               .plan = {.fusion = fusion},
                               .storage = {.cache_folder = "none"}};
  Compilation compilation(graph, options);
  compilation.verify();
  compilation.plan();
  compilation.choose(0, [&](kernel::KernelStep& step) {
    if (steps != nullptr) steps->push_back(step);
    if (change) change(step);
  });
  compilation.generate_code();
  Executable executable = compilation.executable();
  tests::RandomSource random(7);
  for (NodeId id : graph.leaves()) {
    const Node& node = graph.node(id);
    std::vector<int64_t> dims;
    for (Expr dim : node.dims) dims.push_back(*dim.to_int());
    executable.set(graph.tensor(id), tests::random_data(node.dtype, dims, random));
  }
  executable.run();
  executable.run();  // the second run finds what the first one left
  const TensorData data = executable.get_data(y);
  return {data.bytes.begin(), data.bytes.end()};
}

// Of f32 results, relative to the largest.
double distance(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  double largest = 0, apart = 0;
  for (size_t at = 0; at + 4 <= a.size(); at += 4) {
    float x = 0, y = 0;
    std::memcpy(&x, &a[at], 4);
    std::memcpy(&y, &b[at], 4);
    largest = std::max(largest, std::abs(double{x}));
    apart = std::max(apart, std::abs(double{x} - double{y}));
  }
  return largest > 0 ? apart / largest : apart;
}

backends::LoadOptions for_target(const std::string& target, bool reorder_sums) {
  backends::LoadOptions options;
  options.target = target;
  options.reorder_sums = reorder_sums;
  return options;
}

class Candidates : public testing::TestWithParam<const char*> {};

TEST_P(Candidates, ComputeWhatTheDefaultComputes) {
  const std::string target = GetParam();
  int tried = 0, of_sums = 0, strategies = 0;
  // Compiling is what takes time: the narrower target tries every other case.
  const size_t stride = target.empty() ? 1 : 2;
  for (size_t number = 0; number < tried_cases().size(); number += stride) {
    const TriedCase& c = tried_cases()[number];
    Graph graph;
    Tensor y = c.build(graph);
    const bool f32 = y.dtype() == DType::F32;
    y = y.output("y");
    std::vector<kernel::KernelStep> steps;
    const std::vector<std::byte> want = run_with(graph, y, c.fusion, nullptr, target, &steps);
    const backends::Backend& backend = backends::find_backend("cpu");
    for (size_t k = 0; k < steps.size(); ++k) {
      for (const kernel::StepChoice& choice :
           backend.candidates(steps[k], for_target(target, true))) {
        SCOPED_TRACE(std::string(c.name) + ": " + kernel::text(choice));
        size_t next = 0;
        const auto got = run_with(
            graph, y, c.fusion,
            [&](kernel::KernelStep& step) {
              if (next++ != k) return;
              step.strategy = choice.strategy;
              step.schedule = choice.schedule;
            },
            target, nullptr);
        ++tried;
        strategies += choice.strategy != steps[k].strategy;
        if (choice.strategy == steps[k].strategy && choice.schedule.changes_time_only()) {
          EXPECT_EQ(got, want);
        } else if (f32) {
          ++of_sums;
          EXPECT_LT(distance(want, got), 1e-5);
        }
      }
    }
  }
  EXPECT_GE(tried, 30);
  EXPECT_GE(of_sums, 8);
  EXPECT_GE(strategies, 2);
}

TEST_P(Candidates, KeepAllBitsUnlessSumsMayBeReordered) {
  const std::string target = GetParam();
  for (const TriedCase& c : tried_cases()) {
    Graph graph;
    const Tensor y = c.build(graph).output("y");
    std::vector<kernel::KernelStep> steps;
    run_with(graph, y, c.fusion, nullptr, target, &steps);
    for (const kernel::KernelStep& step : steps) {
      const auto choices =
          backends::find_backend("cpu").candidates(step, for_target(target, false));
      for (const kernel::StepChoice& choice : choices) {
        EXPECT_EQ(choice.strategy, step.strategy) << c.name;
        EXPECT_TRUE(choice.schedule.changes_time_only()) << c.name << ": " << kernel::text(choice);
      }
    }
  }
}

// What is offered for attention, with knobs.
std::vector<std::string> offered_for(int64_t queries, int64_t keys) {
  Graph graph;
  const Tensor y = attend(graph, queries, keys).output("y");
  std::vector<kernel::KernelStep> steps;
  run_with(graph, y, FusionPolicy::Always, nullptr, "", &steps);
  std::vector<std::string> offered;
  for (const kernel::KernelStep& step : steps) {
    offered.push_back("by default " + std::string(kernel::text(step.strategy)));
    for (const kernel::StepChoice& choice :
         backends::find_backend("cpu").candidates(step, for_target("", true))) {
      offered.push_back(kernel::text(choice));
    }
  }
  return offered;
}

TEST(CandidatesOfAttention, AreWholeAndSplit) {
  using testing::Contains;
  EXPECT_THAT(offered_for(8, 160), Contains("by default row_blocks"));
  EXPECT_THAT(offered_for(8, 160), Contains("split_attention"));
  EXPECT_THAT(offered_for(1, 160), Contains("by default loops"));
  EXPECT_THAT(offered_for(1, 160), Contains("split_attention"));
  EXPECT_THAT(offered_for(8, 4096), Contains("by default split_attention"));
  EXPECT_THAT(offered_for(8, 4096), Contains("row_blocks"));
  EXPECT_THAT(offered_for(8, 4096), Contains("loops"));
  EXPECT_THAT(offered_for(8, 4096), Contains("split_attention, keys_of_range 1024"));
  EXPECT_THAT(offered_for(1, 300), Contains("split_attention, keys_of_range 64"));
  EXPECT_THAT(offered_for(1, 300), testing::Not(Contains("split_attention, keys_of_range 512")));
}

std::string name_of(const testing::TestParamInfo<const char*>& target) {
  return *target.param == 0 ? "best" : target.param;
}
INSTANTIATE_TEST_SUITE_P(Targets, Candidates, testing::Values("", "avx2"), name_of);

}  // namespace
}  // namespace luminal
