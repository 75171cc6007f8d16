// Plans whose products oneDNN computes give what the interpreter gives, and say what they do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "luminal/backends/cpu/onednn/library_matmul.h"
#include "luminal/base/os/cpu.h"
#include "tests/backends/against_interpreter.h"
#include "tests/search/llama_blocks.h"

namespace luminal {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

// Whether this processor's oneDNN multiplies such numbers other than by plain loops.
bool multiplies(DType dtype) {
  backends::cpu::LibraryMatmulShape shape{.dtype = dtype, .result = dtype, .m = 2, .n = 2, .k = 2};
  shape.a = shape.b = shape.c = {.row = 2, .column = 1};
  return static_cast<bool>(backends::cpu::make_library_matmul(shape, 1));
}

int64_t n_by_library(const CompileReport& report) {
  return std::ranges::count_if(report.kernels, &KernelReport::by_library);
}

// What is held for runs, of all variants.
std::vector<std::string> kept(const CompileReport& report) {
  std::vector<std::string> all;
  for (const MemoryReport& memory : report.memory) {
    all.insert(all.end(), memory.kept.begin(), memory.kept.end());
  }
  return all;
}

class LibraryPlan : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override {
    if (!multiplies(GetParam())) {
      GTEST_SKIP() << name(GetParam()) << ": " << backends::cpu::library_text();
    }
  }

  // One product that the library computes, run on two sets of leaves. Returns the report.
  CompileReport check(Graph& graph, const Tensor& result, const CompileOptions& options = {},
                      const std::vector<Bindings>& runs = {{}, {}}) {
    Comparison comparison{.graph = graph, .results = {result}, .options = options};
    comparison.options.backend.library = LibraryPolicy::Always;
    comparison.run(runs);
    EXPECT_EQ(n_by_library(comparison.report), 1) << comparison.report.text();
    return comparison.report;
  }
};

INSTANTIATE_TEST_SUITE_P(DTypes, LibraryPlan, testing::Values(DType::F32, DType::BF16),
                         [](const auto& test) { return std::string(name(test.param)); });

// Without bf16 instructions oneDNN multiplies bf16 by way of f32, and takes weights as they are.
bool packs_weights(DType dtype) {
  return dtype != DType::BF16 || base::cpu_info().features.avx512_bf16;
}
#define SKIP_WITHOUT_PACKING(dtype) \
  if (!packs_weights(dtype)) GTEST_SKIP() << "this processor has no bf16 instructions"

TEST_P(LibraryPlan, OddSizesAndBothLayoutsOfAWeight) {
  for (const auto& [m, n, k] :
       {std::tuple{1, 17, 3}, {3, 65, 63}, {17, 63, 65}, {65, 1, 17}, {5, 64, 1}, {129, 65, 67}}) {
    for (bool transposed : {false, true}) {
      SCOPED_TRACE(testing::Message() << m << "×" << n << "×" << k << " " << transposed);
      Graph graph;
      Tensor x = graph.input("x", {m, k}, GetParam());
      Tensor w = graph.weight("w", transposed ? Dims{n, k} : Dims{k, n}, GetParam());
      Tensor y = matmul(x, transposed ? w.transpose(0, 1) : w).output("y");
      Comparison comparison{.graph = graph, .results = {y}};
      comparison.options.backend.library = LibraryPolicy::Always;
      comparison.run({{}, {}});
      // Of few numbers a plan makes rows of sums instead, which aren't for the library.
      if (m * n * k > 50000) {
        EXPECT_EQ(n_by_library(comparison.report), 1) << comparison.report.text();
      }
    }
  }
}

TEST_P(LibraryPlan, Epilogues) {
  using Epilogue = Tensor (*)(const Tensor& product, Graph& graph, DType dtype);
  const Epilogue epilogues[] = {
      [](const Tensor& product, Graph& graph, DType dtype) {
        return product + graph.weight("bias", {33}, dtype).unsqueeze(0).expand({19, 33});
      },
      [](const Tensor& product, Graph& graph, DType dtype) {
        return product + graph.input("residual", {19, 33}, dtype);
      },
      [](const Tensor& product, Graph& graph, DType dtype) {
        const Tensor bias = graph.weight("bias", {33}, dtype).unsqueeze(0).expand({19, 33});
        return graph.input("residual", {19, 33}, dtype) + (product + bias);
      },
      [](const Tensor& product, Graph& graph, DType dtype) {
        const Tensor wide = graph.input("wide", {19, 33});
        return product + (graph.input("residual", {19, 33}, dtype) + wide.cast(dtype));
      },
      [](const Tensor& product, Graph& graph, DType dtype) {
        return product * graph.input("gate", {19, 33}, dtype);
      },
  };
  for (Epilogue epilogue : epilogues) {
    Graph graph;
    Tensor x = graph.input("x", {19, 40}, GetParam());
    Tensor w = graph.weight("w", {40, 33}, GetParam());
    Tensor y = epilogue(matmul(x, w), graph, GetParam()).output("y");
    const CompileReport report = check(graph, y, {.plan = {.fusion = FusionPolicy::Always}});
    EXPECT_EQ(report.kernels.size(), 1u) << report.text();
  }
}

TEST_P(LibraryPlan, ReluWhereNanNeedNotStay) {
  Graph graph;
  Tensor x = graph.input("x", {19, 40}, GetParam());
  Tensor w = graph.weight("w", {40, 33}, GetParam());
  Tensor bias = graph.weight("bias", {33}, GetParam());
  Tensor y = relu(matmul(x, w) + bias.unsqueeze(0).expand({19, 33})).output("y");
  check(graph, y, {.plan = {.fusion = FusionPolicy::Always, .numerics = Numerics::Finite}});

  CompileReport report;
  CompileOptions options{.backend = {.library = LibraryPolicy::Always},
                         .plan = {.fusion = FusionPolicy::Always},
                         .storage = {.cache_folder = "none"},
                         .report = &report};
  Executable strict = compile(graph, options);
  EXPECT_EQ(n_by_library(report), 0);
  EXPECT_THAT(report.text(), HasSubstr("not by the library: the library's relu turns NaN into 0"));
  strict.set(x, std::vector<float>(19 * 40, std::numeric_limits<float>::quiet_NaN()));
  strict.set(w, std::vector<float>(40 * 33, 1.0f));
  strict.set(bias, std::vector<float>(33, 1.0f));
  strict.run();
  EXPECT_TRUE(std::isnan(strict.get<float>(y).front()));
}

TEST_P(LibraryPlan, BatchesWithoutWeights) {
  Graph graph;
  Tensor q = graph.input("q", {2, 3, 17, 32}, GetParam());
  Tensor k = graph.input("k", {2, 3, 29, 32}, GetParam());
  Tensor y = matmul(q, k.transpose(2, 3)).output("y");
  const CompileReport report = check(graph, y);
  EXPECT_TRUE(kept(report).empty()) << "nothing is packed";
}

TEST_P(LibraryPlan, PartsOfAWeightAndOfAnInput) {
  Graph graph;
  Tensor x = graph.input("x", {40, 80}, GetParam());
  Tensor w = graph.weight("w", {99, 70}, GetParam());
  Tensor y = matmul(x.slice(1, 10, 80), w.slice(0, 33, 66).transpose(0, 1)).output("y");
  check(graph, y);
}

TEST_P(LibraryPlan, AResultInF32) {
  Graph graph;
  Tensor x = graph.input("x", {31, 70}, GetParam());
  Tensor w = graph.weight("w", {70, 33}, GetParam());
  const auto wide = [](const Tensor& t) { return t.cast(DType::F32); };
  Tensor residual = graph.input("residual", {31, 33});
  check(graph, (matmul(wide(x), wide(w)) + residual).output("y"));
}

TEST_P(LibraryPlan, WeightsAreHeldInTheLibrarysOrderAlone) {
  Graph graph;
  Tensor x = graph.input("x", {24, 64}, GetParam());
  Tensor w = graph.weight("w", {96, 64}, GetParam());
  Tensor y = matmul(x, w.transpose(0, 1)).output("y");
  const CompileReport report = check(graph, y);
  EXPECT_THAT(kept(report), Each(HasSubstr("in the layout of oneDNN")));
  EXPECT_EQ(report.n_packing(), 0u) << "no panels";
  EXPECT_THAT(report.text(), Not(HasSubstr("stored more than once")));

  Executable exe = compile(
      graph, {.backend = {.library = LibraryPolicy::Always}, .storage = {.cache_folder = "none"}});
  exe.set(x, std::vector<float>(24 * 64, 1.0f));
  exe.set(w, std::vector<float>(96 * 64, 0.5f));
  EXPECT_THROW(exe.release(w), UserError) << "it is still to be packed";
  exe.run();
  exe.release(w);
  exe.set(x, std::vector<float>(24 * 64, 2.0f));
  exe.run();
  EXPECT_THAT(exe.get<float>(y), Each(64.0f));
  Executable copy = exe.clone();
  copy.set(x, std::vector<float>(24 * 64, 3.0f));
  copy.run();
  EXPECT_THAT(copy.get<float>(y), Each(96.0f));
  exe.set(w, std::vector<float>(96 * 64, 1.0f));
  exe.run();
  EXPECT_THAT(exe.get<float>(y), Each(128.0f));
  EXPECT_THAT(copy.get<float>(y), Each(96.0f)) << "a clone keeps its own";
}

TEST_P(LibraryPlan, AWeightThatIsComputedIsPackedAndNotKept) {
  SKIP_WITHOUT_PACKING(GetParam());
  Graph graph;
  Tensor x = graph.input("x", {24, 64}, GetParam());
  Tensor w = graph.weight("w", {64, 96}, GetParam());
  Tensor doubled = (w * 2.0).materialize();
  Tensor y = matmul(x, doubled).output("y");
  const CompileReport report = check(graph, y);
  EXPECT_THAT(kept(report), Each(HasSubstr("in the layout of oneDNN")));

  Executable exe = compile(
      graph, {.backend = {.library = LibraryPolicy::Always}, .storage = {.cache_folder = "none"}});
  exe.set(x, std::vector<float>(24 * 64, 1.0f));
  exe.set(w, std::vector<float>(64 * 96, 0.5f));
  for (int run = 0; run < 2; ++run) EXPECT_NO_THROW(exe.run({}, {.check_kernels = true}));
}

TEST_P(LibraryPlan, WhatIsHeldTwiceIsInTheReport) {
  SKIP_WITHOUT_PACKING(GetParam());
  Graph graph;
  Tensor x = graph.input("x", {24, 64}, GetParam());
  Tensor w = graph.weight("w", {64, 96}, GetParam());
  matmul(x, w).output("y");
  Tensor z = (graph.input("z", {64, 96}, GetParam()) + w).output("sum");
  const CompileReport report = check(graph, z);
  EXPECT_THAT(report.notes, Contains(AllOf(HasSubstr("'w' is stored more than once"),
                                           HasSubstr("in the layout of oneDNN"))));
}

TEST_P(LibraryPlan, AWeightInPanelsTooIsInTheReport) {
  Graph graph;
  Tensor x = graph.input("x", {24, 64}, GetParam());
  Tensor w = graph.weight("w", {64, 96}, GetParam());
  Tensor y = matmul(x, w).output("y");
  gelu(matmul(graph.input("z", {40, 64}, GetParam()), w)).output("gelu");
  const CompileReport report = check(graph, y, {.plan = {.fusion = FusionPolicy::Always}});
  EXPECT_EQ(report.n_packing(), 1u) << report.text();
  EXPECT_THAT(report.notes, Contains(AllOf(HasSubstr("'w' is stored more than once"),
                                           HasSubstr("a library packs it in its own layout"))));
}

TEST_P(LibraryPlan, VariantsOfAnyNumberOfRowsShareAPackedWeight) {
  SKIP_WITHOUT_PACKING(GetParam());
  Graph graph;
  const Expr s = Expr::var("s", 0, 512);
  Tensor x = graph.input("x", {s, 64}, GetParam());
  Tensor w = graph.weight("w", {64, 96}, GetParam());
  Tensor bias = graph.weight("bias", {96}, GetParam());
  Tensor y = (matmul(x, w) + bias.unsqueeze(0).expand({s, 96})).output("y");
  Comparison comparison{.graph = graph, .results = {y}};
  comparison.options = {.backend = {.library = LibraryPolicy::Always},
                        .plan = {.variants = {{"s", {16}}}}};
  comparison.run({{{"s", 1}}, {{"s", 300}}, {{"s", 16}}, {{"s", 0}}, {{"s", 17}}, {{"s", 3}}});
  EXPECT_EQ(n_by_library(comparison.report), 2);
  const std::vector<std::string> held = kept(comparison.report);
  ASSERT_EQ(held.size(), 2u);
  EXPECT_EQ(held[0], held[1]);

  Executable exe = compile(graph, {.backend = {.library = LibraryPolicy::Always},
                                   .plan = {.variants = {{"s", {16}}}},
                                   .storage = {.cache_folder = "none"}});
  exe.set(w, std::vector<float>(64 * 96, 0.5f));
  exe.set(bias, std::vector<float>(96, 1.0f));
  std::ostringstream steps;
  for (int64_t size : {4, 100, 5}) {
    exe.set(x, std::vector<float>(static_cast<size_t>(size) * 64, 1.0f));
    exe.run({{"s", size}}, {.debug = true, .out = &steps});
    EXPECT_THAT(exe.get<float>(y), Each(33.0f));
  }
  const std::string text = steps.str();
  EXPECT_THAT(text, HasSubstr("packing for oneDNN"));
  EXPECT_EQ(text.find("packing for oneDNN"), text.rfind("packing for oneDNN")) << text;
  EXPECT_THAT(text, Not(HasSubstr("ref"))) << "none by plain loops";
  EXPECT_NO_THROW(exe.release(w));
}

TEST_P(LibraryPlan, AStateThatIsReadIsNotWrittenOverMeanwhile) {
  Graph graph;
  Tensor x = graph.input("x", {16, 64}, GetParam());
  Tensor w = graph.weight("w", {64, 96}, GetParam());
  Tensor state = graph.state("state", {16, 96}, GetParam());
  Tensor next = state + matmul(x, w);
  graph.update(state, next);
  CompileReport report;
  Executable exe = compile(graph, {.backend = {.library = LibraryPolicy::Always},
                                   .storage = {.cache_folder = "none"},
                                   .report = &report});
  ASSERT_EQ(n_by_library(report), 1) << report.text();
  exe.set(x, std::vector<float>(16 * 64, 1.0f));
  exe.set(w, std::vector<float>(64 * 96, 0.25f));
  for (float expected : {16.0f, 32.0f}) {
    exe.run();
    EXPECT_THAT(exe.get<float>(state), Each(expected));
  }
}

TEST_P(LibraryPlan, IsTracedCheckedAndReported) {
  SKIP_WITHOUT_PACKING(GetParam());
  Graph graph;
  Tensor x = graph.input("x", {24, 64}, GetParam());
  Tensor w = graph.weight("w", {64, 96}, GetParam());
  matmul(x, w).output("y");
  CompileReport report;
  Executable exe = compile(graph, {.backend = {.library = LibraryPolicy::Always},
                                   .storage = {.cache_folder = "none"},
                                   .report = &report});
  exe.set(x, std::vector<float>(24 * 64, 0.5f));
  exe.set(w, std::vector<float>(64 * 96, 0.25f));
  Trace trace{.events = {}, .roofline = {.bytes_per_second = 1e9, .flops_per_second = 1e9}};
  exe.run({.trace = &trace, .check_kernels = true});
  std::vector<std::string> names;
  for (const TraceEvent& event : trace.events) names.push_back(event.name);
  EXPECT_THAT(names, testing::ElementsAre("run 0", "pack a weight for a library", "kernel 0",
                                          "copy results and states"));
  EXPECT_EQ(trace.events[2].library, report.kernels[0].library);
  EXPECT_GT(trace.events[2].flops, 0);
  EXPECT_THAT(trace.json(), HasSubstr("\"library\": \"oneDNN 3."));

  EXPECT_THAT(report.kernels[0].library, HasSubstr("oneDNN 3."));
  EXPECT_THAT(report.text(),
              AllOf(HasSubstr(", by oneDNN 3."),
                    HasSubstr("the bits of its result may depend on the number of threads"),
                    HasSubstr("0 compiled, 0 from the cache, 1 by a library")));
  EXPECT_THAT(report.json(), HasSubstr("\"by_library\": true"));
}

TEST_P(LibraryPlan, MeasuringTimesBothAndSaysSo) {
  Graph graph;
  Tensor x = graph.input("x", {32, 64}, GetParam());
  Tensor v = graph.weight("v", {64, 65}, GetParam());
  Tensor w = graph.weight("w", {64, 64}, GetParam());
  Tensor y = matmul(x, v).output("y");
  Tensor z = matmul(graph.input("u", {48, 64}, GetParam()), w).output("z");
  Comparison comparison{.graph = graph, .results = {y, z}};
  comparison.options.backend.library = LibraryPolicy::Measured;
  comparison.run({{}, {}});
  int measured = 0;
  for (const KernelReport& kernel : comparison.report.kernels) {
    if (kernel.own_us == 0) continue;
    ++measured;
    EXPECT_GT(kernel.library_us, 0);
    EXPECT_EQ(kernel.by_library, kernel.library_us < 0.97 * kernel.own_us);
    EXPECT_THAT(kernel.library, HasSubstr("oneDNN 3."));
  }
  EXPECT_EQ(measured, 2) << comparison.report.text();
  EXPECT_THAT(comparison.report.text(), HasSubstr("measured: "));
}

TEST(LibraryPolicies, NeverIsTheDefault) {
  Graph graph;
  Tensor x = graph.input("x", {24, 64});
  Tensor w = graph.weight("w", {64, 96});
  matmul(x, w).output("y");
  CompileReport report;
  compile(graph, {.storage = {.cache_folder = "none"}, .report = &report});
  EXPECT_EQ(n_by_library(report), 0);
  EXPECT_THAT(report.text(), Not(HasSubstr("not by the library")));
  EXPECT_EQ(report.n_packing(), 1u) << "its panels";
}

TEST(LibraryPolicies, WhatTheLibraryHasNoFormOfStaysCompiled) {
  if (!backends::cpu::library_available()) GTEST_SKIP() << "this build has no library";
  Graph graph;
  Tensor x = graph.input("x", {24, 64});
  Tensor w = graph.weight("w", {64, 96});
  Tensor y = gelu(matmul(x, w)).output("y");
  Comparison comparison{.graph = graph, .results = {y}};
  comparison.options = {.backend = {.library = LibraryPolicy::Always},
                        .plan = {.fusion = FusionPolicy::Always}};
  comparison.run({{}});
  EXPECT_EQ(n_by_library(comparison.report), 0);
  EXPECT_THAT(comparison.report.text(),
              HasSubstr("not by the library: what follows its sums is not a post-op"));
  EXPECT_EQ(comparison.report.n_packing(), 1u);
}

// Most of its products have a norm or a gate inside, which are compiled.
TEST(LibraryPolicies, KernelsOfALlamaBlockAreRight) {
  if (!backends::cpu::library_available()) GTEST_SKIP() << "this build has no library";
  Graph graph;
  const Expr s = Expr::var("s", 1, 512);
  Tensor x = graph.input("x", {1, s, 256});
  search::llama_block(nn::Scope(graph), x, 4, 2, 512).output("y");
  CompileReport report;
  Executable exe = compile(graph, {.backend = {.library = LibraryPolicy::Always},
                                   .plan = {.typical_sizes = {{"s", 256}}},
                                   .storage = {.cache_folder = "none"},
                                   .report = &report});
  EXPECT_GE(n_by_library(report), 1) << report.text();
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 0.1f);
  for (int64_t size : {17, 1, 17}) {
    for (NodeId leaf : graph.leaves()) {
      const Tensor tensor = graph.tensor(leaf);
      const int64_t count = n_elements(tensor.dims()).evaluate({{"s", size}}).value.value();
      std::vector<float> values(static_cast<size_t>(count));
      for (float& value : values) value = normal(random);
      exe.set(tensor, values);
    }
    EXPECT_NO_THROW(exe.run({{"s", size}}, {.check_kernels = true}));
  }
}

TEST(LibraryPolicies, ABuildWithoutALibrarySaysSo) {
  if (backends::cpu::library_available()) GTEST_SKIP() << "this build has one";
  Graph graph;
  Tensor x = graph.input("x", {24, 64});
  Tensor w = graph.weight("w", {64, 96});
  matmul(x, w).output("y");
  CompileReport report;
  compile(graph, {.backend = {.library = LibraryPolicy::Measured},
                  .storage = {.cache_folder = "none"},
                  .report = &report});
  EXPECT_THAT(report.notes, Contains(HasSubstr("this build has no oneDNN")));
  try {
    compile(graph,
            {.backend = {.library = LibraryPolicy::Always}, .storage = {.cache_folder = "none"}});
    FAIL() << "it compiled";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("LUMINAL_ONEDNN=ON"));
  }
}

}  // namespace
}  // namespace luminal
