// Which tensor a call means, and in which forms elements are given.
#include <gtest/gtest.h>

#include "luminal/luminal.h"

namespace luminal {
namespace {

// The elements of x [2, 3] after `set`.
template <typename Set>
std::vector<float> elements_after(const Set& set) {
  Graph graph;
  Tensor x = graph.input("x", {2, 3});
  x.output("y");
  Executable exe = compile(graph, {.backend = {.name = "interp"}});
  set(exe, x);
  exe.run();
  return exe.get<float>("y");
}

TEST(Names, ElementsComeInEveryFormOfTheirs) {
  const std::vector<float> expected = {1, 2, 3, 4, 5, 6};
  const float nested[2][3] = {{1, 2, 3}, {4, 5, 6}};
  using std::string_literals::operator""s;
  EXPECT_EQ(elements_after([&](auto& e, auto& x) { e.set(x, expected); }), expected);
  EXPECT_EQ(elements_after([&](auto& e, auto&) { e.set("x"s, std::span(expected)); }), expected);
  EXPECT_EQ(elements_after([&](auto& e, auto&) { e.set("x", &nested[0][0], 6); }), expected);
  EXPECT_EQ(elements_after([&](auto& e, auto&) { e.set("x", nested); }), expected);
  EXPECT_EQ(
      elements_after([&](auto& e, auto&) { e.set("x", std::array<float, 6>{1, 2, 3, 4, 5, 6}); }),
      expected);
  EXPECT_EQ(elements_after([&](auto& e, auto&) {
              e.set("x", std::vector<std::vector<int>>{{1, 2, 3}, {4, 5, 6}});
            }),
            expected);
  EXPECT_EQ(elements_after([&](auto& e, auto& x) { e.set(x, {{1, 2, 3}, {4, 5, 6}}); }), expected);
}

TEST(Names, BoolsComeAsAVectorToo) {
  Graph graph;
  Tensor x = graph.input("x", {3}, DType::Bool).set(std::vector<bool>{true, false, true});
  x.logical_not().output("y");
  Executable exe = compile(graph, {.backend = {.name = "interp"}});
  exe.set("x", std::vector<bool>{true, true, false});
  exe.run();
  EXPECT_EQ(exe.get<bool>("y"), (std::vector<bool>{false, false, true}));
}

TEST(Names, AnOutputIsReadAndALeafIsSetWhereTheyShareAName) {
  Graph graph;
  Tensor x = graph.input("x", {1});
  (x + 1).output("x");
  (x + 2).name("kept").keep();
  Executable exe = compile(graph, {.backend = {.name = "interp"}});
  exe.set("x", {5});
  exe.run();
  EXPECT_EQ(exe.get<float>("x")[0], 6.0f);
  EXPECT_EQ(exe.get<float>(x)[0], 5.0f);
  EXPECT_EQ(exe.get<float>("kept")[0], 7.0f);
}

TEST(Names, TensorsFollowAGraphThatMoves) {
  std::optional<Executable> exe;
  Tensor x, y, late;
  {
    Graph first;
    x = first.input("x", {2});
    Graph second = std::move(first);
    first.input("x", {3});  // NOLINT: an empty graph again
    y = x.relu().output("y");
    EXPECT_EQ(&y.graph(), &second);
    exe.emplace(compile(second, {.backend = {.name = "interp"}}));
    Graph third;
    late = third.input("late", {1});
    third = std::move(second);
    EXPECT_EQ(&y.graph(), &third);
    EXPECT_THROW(late.graph(), UserError) << "its graph was replaced";
  }
  EXPECT_THROW(x.relu(), UserError) << "there is no graph any more";
  exe->set(x, {-1, 2});
  exe->run();
  EXPECT_EQ(exe->get<float>(y), (std::vector<float>{0, 2})) << "the executable has all it needs";
}

}  // namespace
}  // namespace luminal
