// Bundles: what was compiled runs again from its bytes, with the same bits; and what can't be run
// says why, and what to do.
#include "luminal/driver/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "luminal/base/digest.h"
#include "luminal/base/source_fingerprint.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

using testing::HasSubstr;

CompileOptions options(int threads = 2) {
  CompileOptions of;
  of.backend.threads = threads;
  of.storage.cache_folder = "none";
  return of;
}

// By the names of leaves: the same in every graph that has them.
void fill(Executable& executable, Graph& graph, const Bindings& bindings) {
  for (NodeId leaf : graph.leaves()) {
    const Tensor tensor = graph.tensor(leaf);
    std::vector<int64_t> dims;
    for (Expr dim : tensor.dims()) dims.push_back(dim.evaluate(bindings).value.value());
    TensorData data = TensorData::zeros(DType::F32, dims).data;
    std::mt19937_64 random(dims.size());
    std::vector<float> values(static_cast<size_t>(data.n_elements()));
    for (float& value : values) value = static_cast<float>(random() % 1000) / 500 - 1;
    data = TensorData::copy_of(std::span<const float>(values), dims);
    executable.set(tensor, data.cast(tensor.dtype()));
  }
}

std::vector<double> result(Executable& executable, Graph& graph, const Bindings& bindings = {}) {
  fill(executable, graph, bindings);
  executable.run(bindings);
  executable.run(bindings);
  return executable.get_data(graph.tensor(graph.outputs().front().node)).to_doubles();
}

void expect_same_bits(Graph& graph, const Bindings& bindings = {}) {
  Executable compiled = compile(graph, options());
  LoadedBundle loaded = load_bundle(make_bundle(graph, options()));
  EXPECT_EQ(result(loaded.executable, *loaded.graph, bindings), result(compiled, graph, bindings));
}

TEST(Bundle, RunsEveryKindOfKernelWithTheSameBits) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (int64_t n : {1, 3, 17, 128}) {
      Graph graph;
      const Tensor x = graph.input("x", {n, 64}, dtype);
      // A weight in panels, a norm, and a result of another kernel.
      const Tensor product = matmul(x, graph.weight("w", {64, 48}, dtype)).materialize();
      softmax(product, -1).output("y");
      expect_same_bits(graph);
    }
  }
}

TEST(Bundle, RunsKernelsInTwoParts) {
  Graph graph;
  const Tensor q = graph.input("q", {2, 1, 64});
  const Tensor k = graph.input("k", {2, 2048, 64}), v = graph.input("v", {2, 2048, 64});
  scaled_dot_product_attention(q, k, v).output("y");
  expect_same_bits(graph);
}

TEST(Bundle, RunsAtEverySizeOfADynamicDim) {
  Graph graph;
  const Tensor x = graph.input("x", {Expr::var("s", 1, 64), 32});
  rms_norm(x, {32}, graph.weight("w", {32}), 1e-5).output("y");
  for (int64_t s : {1, 3, 17, 64}) expect_same_bits(graph, {{"s", s}});
}

TEST(Bundle, EmptyTensorsRunToo) {
  Graph graph;
  sum(graph.input("x", {0, 4}), 0).output("y");
  expect_same_bits(graph);
}

TEST(Bundle, TheSameGraphGivesTheSameBytes) {
  Graph graph;
  gelu(graph.input("x", {3, 17})).output("y");
  const std::string bundle = make_bundle(graph, options());
  EXPECT_EQ(make_bundle(graph, options()), bundle);
  EXPECT_THAT(load_bundle(bundle).made_by, HasSubstr(LUMINAL_VERSION));
}

std::string why_not(const std::string& bytes) {
  try {
    load_bundle(bytes);
  } catch (const UserError& error) {
    return error.what();
  }
  return "it runs";
}

// A bundle without its digest and seal.
std::string content_of(const std::string& bundle) {
  return bundle.substr(0, bundle.size() - seal_bundle("").size());
}

TEST(Bundle, DamageIsNamed) {
  Graph graph;
  exp2(graph.input("x", {17})).output("y");
  const std::string bundle = make_bundle(graph, options());
  EXPECT_EQ(why_not(bundle), "it runs");
  EXPECT_THAT(why_not(""), HasSubstr("too short"));
  EXPECT_THAT(why_not(std::string(100, 'x')), HasSubstr("make it again"));
  for (size_t at : {size_t{40}, bundle.size() / 2, content_of(bundle).size()}) {
    std::string damaged = bundle;
    damaged[at] ^= 4;
    EXPECT_THAT(why_not(damaged), HasSubstr("damaged")) << at;
  }
  EXPECT_THAT(why_not(bundle.substr(0, bundle.size() - 1)), HasSubstr("make it again"));
}

// Anybody can compute a digest; only this user can seal.
TEST(Bundle, ThatSomebodyElseMadeIsNotRun) {
  Graph graph;
  exp2(graph.input("x", {17})).output("y");
  const std::string bundle = make_bundle(graph, options());
  std::string content = content_of(bundle);
  const std::string seal = bundle.substr(content.size() + base::digest("").size());
  content.back() ^= 1;  // of its machine code
  EXPECT_THAT(why_not(content + base::digest(content) + seal),
              HasSubstr("another user or machine"));
}

TEST(Bundle, OfAnotherFormatNamesWhoMadeIt) {
  Graph graph;
  exp2(graph.input("x", {17})).output("y");
  std::string content = content_of(make_bundle(graph, options()));
  const std::string format(base::format_fingerprint());
  const size_t at = content.find(format);
  ASSERT_NE(at, std::string::npos);
  content.replace(at, format.size(), std::string(format.size(), '0'));
  const std::string why = why_not(seal_bundle(content));
  EXPECT_THAT(why, HasSubstr(std::string("luminal ") + LUMINAL_VERSION));
  EXPECT_THAT(why, HasSubstr("another format"));
  EXPECT_THAT(why, HasSubstr("make it again"));
}

TEST(Bundle, OfAnotherProcessorIsNotRun) {
  Graph graph;
  exp2(graph.input("x", {17})).output("y");
  std::string content = content_of(make_bundle(graph, options()));
  // In the code's list of features, one that this processor hasn't got.
  const size_t at = content.find("+sse2");
  ASSERT_NE(at, std::string::npos);
  content.replace(at, 5, "+sve2");
  EXPECT_THAT(why_not(seal_bundle(content)), HasSubstr("another processor"));
}

TEST(Bundle, WhatCanNotBeKeptIsRefused) {
  Graph graph;
  exp2(graph.input("x", {17})).output("y");
  const auto why = [&](const CompileOptions& of) -> std::string {
    try {
      make_bundle(graph, of);
    } catch (const UserError& error) {
      return error.what();
    }
    return "it was kept";
  };
  CompileOptions of = options();
  of.backend.name = "interp";
  EXPECT_THAT(why(of), HasSubstr("compiles nothing"));
  of = options();
  of.backend.library = LibraryPolicy::Measured;
  EXPECT_THAT(why(of), HasSubstr("library"));
  of = options();
  of.plan.variants = {{"s", {1}}};
  EXPECT_THAT(why(of), HasSubstr("one plan"));
}

TEST(Bundle, CodeRunsForTheThreadsItWasMadeFor) {
  for (int threads : {1, 2, 3}) {
    Graph graph;
    sum(graph.input("x", {300, 1000}), -1).output("y");
    Executable compiled = compile(graph, options());
    LoadedBundle loaded = load_bundle(make_bundle(graph, options(threads)));
    EXPECT_EQ(result(loaded.executable, *loaded.graph), result(compiled, graph)) << threads;
  }
}

}  // namespace
}  // namespace luminal
