// Rules find patterns by their ops, in layers and in models, and don't find near misses.
#include "luminal/search/fusion/find_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "luminal/llm/models/llama/llama.h"
#include "luminal/luminal.h"
#include "tests/support/user_error.h"

namespace luminal::search {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using tests::user_error;

std::vector<PatternPlace> found_in(const Graph& graph, const std::vector<RuleText>& more = {}) {
  return find_patterns(graph, roots(graph), more);
}

std::vector<std::string> names_of(const std::vector<PatternPlace>& places) {
  std::vector<std::string> names;
  for (const PatternPlace& place : places) names.emplace_back(name(place.pattern));
  return names;
}

Tensor project(Graph& graph, const char* weight, const Tensor& x, int64_t to) {
  return matmul(x, graph.weight(weight, {to, x.dim(-1)}, x.dtype()).t());
}

TEST(FindPatterns, SwiGluAsLayersBuildIt) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16, DType::F64}) {
    for (bool bias : {false, true}) {
      SCOPED_TRACE(std::string(name(dtype)) + (bias ? " with a bias" : ""));
      Graph graph;
      const Tensor x = graph.input("x", {3, Expr::var("s", 1, 64), 24}, dtype);
      nn::gated_feed_forward(nn::Scope(graph, "", dtype), x, 40, {.bias = bias}).output("y");
      const std::vector<PatternPlace> places = found_in(graph);
      ASSERT_THAT(names_of(places), ElementsAre("swiglu"));
      ASSERT_EQ(places[0].interior.size(), 2u);
      for (NodeId id : places[0].interior) {
        EXPECT_EQ(graph.node(id).dtype, dtype) << "what memory would hold";
        EXPECT_EQ(graph.node(id).dims.back(), Expr(40));
      }
      const FusionShape wanted{.tokens = 51, .hidden = 24, .intermediate = 40, .dtype = dtype};
      EXPECT_EQ(shape_of(places[0], {{"s", 17}}), wanted);
      EXPECT_FALSE(shape_of(places[0], {}).has_value()) << "s has no value";
    }
  }
}

TEST(FindPatterns, SwiGluWithItsFactorsTheOtherWayRound) {
  Graph graph;
  const Tensor x = graph.input("x", {5, 8});
  (project(graph, "up", x, 12) * silu(project(graph, "gate", x, 12))).output("y");
  EXPECT_THAT(names_of(found_in(graph)), ElementsAre("swiglu"));
}

// Views between, a bias before its product, a cast between product and sum.
TEST(FindPatterns, SwiGluHoweverItIsWritten) {
  Graph graph;
  const Tensor x = graph.input("x", {6, 8}, DType::BF16);
  const Tensor gate =
      (graph.weight("bias", {12}, DType::BF16) + project(graph, "gate", x, 12)).reshape({2, 3, 12});
  const Tensor up = project(graph, "up", x.reshape({2, 3, 8}).reshape({6, 8}), 12);
  (up.reshape({2, 3, 12}) * silu(gate)).output("y");
  const std::vector<PatternPlace> places = found_in(graph);
  ASSERT_THAT(names_of(places), ElementsAre("swiglu"));
  ASSERT_EQ(places[0].interior.size(), 2u);
  for (NodeId id : places[0].interior) EXPECT_EQ(graph.node(id).dtype, DType::BF16);
  const FusionShape wanted{.tokens = 6, .hidden = 8, .intermediate = 12, .dtype = DType::BF16};
  EXPECT_EQ(shape_of(places[0], {}), wanted);
}

// Projections of a pattern read the same rows; the same matrix is something else.
TEST(FindPatterns, RowsAndMatricesAreToldApart) {
  Graph graph;
  const Tensor w = graph.weight("w", {8, 12});
  const Tensor x = graph.input("x", {5, 8}), z = graph.input("z", {5, 8});
  (silu(matmul(x, w)) * matmul(z, w)).output("y");
  (silu(matmul(x, x.t())) * matmul(x, graph.weight("v", {8, 5}))).output("of a square");
  EXPECT_THAT(found_in(graph), IsEmpty());
}

// Equal nodes are one value: each is decided about, and neither is a second reader.
TEST(FindPatterns, EqualNodesAreOneValue) {
  Graph graph;
  const Tensor x = graph.input("x", {7, 24});
  const Tensor sum = x + graph.input("r", {7, 24});
  const Tensor a = rms_norm(sum, {24}, std::nullopt, 1e-5);
  const Tensor b = rms_norm(sum, {24}, std::nullopt, 1e-5);
  (project(graph, "q", a, 8) + project(graph, "k", b, 8)).output("y");
  const std::vector<PatternPlace> places = found_in(graph);
  ASSERT_THAT(names_of(places), ElementsAre("add-rms-norm"));
  EXPECT_THAT(places[0].interior, ElementsAre(sum.id(), a.id(), b.id()));
  EXPECT_EQ(shape_of(places[0], {})->intermediate, 16);
}

TEST(FindPatterns, NearMissesOfSwiGlu) {
  const auto found = [](auto build) {
    Graph graph;
    const Tensor x = graph.input("x", {5, 8});
    const Tensor gate = project(graph, "gate", x, 12);
    const Tensor up = project(graph, "up", x, 12);
    build(graph, gate, up).output("y");
    return names_of(found_in(graph));
  };
  using T = const Tensor&;
  EXPECT_THAT(found([](Graph&, T gate, T up) { return silu(gate) * up; }), ElementsAre("swiglu"));
  EXPECT_THAT(found([](Graph&, T gate, T up) { return gelu(gate) * up; }), IsEmpty());
  EXPECT_THAT(found([](Graph&, T gate, T up) { return sigmoid(gate) * up; }), IsEmpty());
  EXPECT_THAT(found([](Graph&, T gate, T up) { return silu(gate) + up; }), IsEmpty());
  EXPECT_THAT(found([](Graph&, T gate, T) { return silu(gate) * gate; }), IsEmpty());
  EXPECT_THAT(found([](Graph&, T gate, T up) { return gate * sigmoid(gate * 1.702) * up; }),
              IsEmpty());
  EXPECT_THAT(found([](Graph& graph, T gate, T) { return silu(gate) * graph.input("z", {5, 12}); }),
              IsEmpty());
  EXPECT_THAT(found([](Graph& graph, T gate, T) {
                return silu(gate) * project(graph, "other", graph.input("z", {5, 9}), 12);
              }),
              IsEmpty());
}

TEST(FindPatterns, WhatMustBeStoredAnywayIsNoQuestion) {
  Graph graph;
  const Tensor x = graph.input("x", {5, 8});
  const Tensor gate = project(graph, "gate", x, 12).output("gate");
  (silu(gate) * project(graph, "up", x, 12)).output("y");
  EXPECT_THAT(found_in(graph), IsEmpty());
}

TEST(FindPatterns, AddRmsNormAsLayersBuildIt) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F16}) {
    for (bool affine : {false, true}) {
      SCOPED_TRACE(std::string(name(dtype)) + (affine ? " with a weight" : ""));
      Graph graph;
      const Tensor x = graph.input("x", {Expr::var("s", 1, 64), 24}, dtype);
      const Tensor sum = x + graph.input("r", x.dims(), dtype);
      const Tensor h =
          nn::rms_norm(nn::Scope(graph, "", dtype), sum, {.eps = 1e-5, .affine = affine});
      (project(graph, "q", h, 10) + project(graph, "k", h, 10)).output("y");
      const std::vector<PatternPlace> places = found_in(graph);
      ASSERT_THAT(names_of(places), ElementsAre("add-rms-norm"));
      EXPECT_EQ(places[0].at, h.id());
      // Nothing else reads the sum.
      EXPECT_THAT(places[0].interior, ElementsAre(sum.id(), h.id()));
      const FusionShape wanted{.tokens = 3, .hidden = 24, .intermediate = 20, .dtype = dtype};
      EXPECT_EQ(shape_of(places[0], {{"s", 3}}), wanted);
    }
  }
}

TEST(FindPatterns, ASumThatIsNeededAgainIsNotAskedAbout) {
  Graph graph;
  const Tensor x = graph.input("x", {7, 24});
  const Tensor sum = x + graph.input("r", {7, 24});
  const Tensor h = rms_norm(sum, {24}, graph.weight("w", {24}), 1e-5);
  (sum + project(graph, "m", h, 24)).output("y");
  const std::vector<PatternPlace> places = found_in(graph);
  ASSERT_THAT(names_of(places), ElementsAre("add-rms-norm"));
  EXPECT_THAT(places[0].interior, ElementsAre(h.id()));
}

TEST(FindPatterns, NearMissesOfAddRmsNorm) {
  const auto found = [](auto build) {
    Graph graph;
    const Tensor x = graph.input("x", {7, 24});
    build(graph, x, graph.input("r", {7, 24})).output("y");
    return names_of(found_in(graph));
  };
  using T = const Tensor&;
  const auto norm = [](T x) { return rms_norm(x, {24}, std::nullopt, 1e-5); };
  EXPECT_THAT(found([&](Graph& g, T x, T r) { return project(g, "m", norm(x + r), 8); }),
              ElementsAre("add-rms-norm"));
  EXPECT_THAT(found([&](Graph& g, T x, T) { return project(g, "m", norm(x), 8); }), IsEmpty());
  EXPECT_THAT(found([&](Graph& g, T x, T r) { return project(g, "m", norm(x * r), 8); }),
              IsEmpty());
  EXPECT_THAT(
      found([&](Graph& g, T x, T) { return project(g, "m", norm(x + g.weight("bias", {24})), 8); }),
      IsEmpty());
  EXPECT_THAT(
      found([&](Graph& g, T x, T r) { return project(g, "m", layer_norm(x + r, {24}), 8); }),
      IsEmpty());
  // Nothing projects it, and a result is stored whatever fusing does.
  EXPECT_THAT(found([&](Graph&, T x, T r) { return norm(x + r); }), IsEmpty());
  EXPECT_THAT(found([&](Graph&, T x, T r) { return norm(x + r) * 2.0; }), IsEmpty());
}

TEST(FindPatterns, EveryLayerOfALlama) {
  const llm::LlamaConfig config{.vocab_size = 50,
                                .features = 32,
                                .hidden = 48,
                                .layers = 3,
                                .heads = 4,
                                .kv_heads = 2,
                                .head_size = 8,
                                .context = 64};
  for (DType dtype : {DType::F32, DType::BF16}) {
    Graph graph;
    llm::build_llama(nn::Scope(graph, "", dtype), config, {});
    const std::vector<PatternPlace> places = found_in(graph);
    std::map<std::string, int> counts;
    for (const std::string& pattern : names_of(places)) ++counts[pattern];
    EXPECT_EQ(counts["swiglu"], 3);
    // Of two norms a layer the first has no sum before it; the last one is read by the logits.
    EXPECT_EQ(counts["add-rms-norm"], 6);
    std::set<int64_t> columns;
    for (const PatternPlace& place : places) {
      const auto shape = shape_of(place, {{"s", 5}, {"past", 0}});
      ASSERT_TRUE(shape.has_value());
      EXPECT_EQ(shape->hidden, 32);
      EXPECT_EQ(shape->dtype, dtype);
      if (place.pattern == FusionPattern::AddRmsNorm) columns.insert(shape->intermediate);
    }
    EXPECT_THAT(columns, ElementsAre(50, 64, 96)) << "logits; queries, keys, values; gate and up";
  }
}

// A gate without an activation, as another pattern of the name.
constexpr const char* kBilinear = R"(
(ruleset mine.exact)
(rule ((= v (Mul a b)) (projection a gate rows s) (projection b up rows z) (!= gate up)
       (free gate) (free up) (product s rows c k) (= t (type-of s)) (= n (rows-of t)))
  ((pattern "NAME" v n k) (inside "NAME" v gate) (inside "NAME" v up) (projected "NAME" v s c))
  :ruleset mine.exact :name "bilinear"))";

RuleText bilinear(const std::string& name) {
  std::string text = kBilinear;
  for (size_t at; (at = text.find("NAME")) != text.npos;) text.replace(at, 4, name);
  return {"mine.egg", text};
}

TEST(FindPatterns, ARuleIsAPattern) {
  Graph graph;
  const Tensor x = graph.input("x", {5, 8});
  const Tensor gate = project(graph, "gate", x, 12);
  const Tensor up = project(graph, "up", x, 12);
  (gate * up).output("y");
  EXPECT_THAT(found_in(graph), IsEmpty());
  const std::vector<PatternPlace> places = found_in(graph, {bilinear("swiglu")});
  ASSERT_THAT(names_of(places), ElementsAre("swiglu"));
  EXPECT_THAT(places[0].interior, ElementsAre(gate.id(), up.id()));
  const FusionShape wanted{.tokens = 5, .hidden = 8, .intermediate = 12};
  EXPECT_EQ(shape_of(places[0], {}), wanted);
  EXPECT_THAT(user_error([&] { found_in(graph, {bilinear("bilinear")}); }),
              HasSubstr("finds a pattern 'bilinear', which has no name; the patterns are swiglu"));
  EXPECT_THAT(user_error([&] { found_in(graph, {{"mine.egg", "(rule ((factors v)) ())"}}); }),
              AllOf(HasSubstr("mine.egg"), HasSubstr("the rule has no name")));
}

TEST(FindPatterns, NamesReadBack) {
  for (FusionPattern pattern : kFusionPatterns) {
    EXPECT_EQ(fusion_pattern_from_name(name(pattern)), pattern);
  }
  EXPECT_FALSE(fusion_pattern_from_name("gelu").has_value());
}

}  // namespace
}  // namespace luminal::search
