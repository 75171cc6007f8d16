#include "luminal/driver/executable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <sstream>

#include "luminal/base/errors.h"
#include "luminal/driver/compile.h"
#include "luminal/graph/composite/arithmetic.h"
#include "luminal/graph/composite/math.h"
#include "luminal/graph/composite/matmul.h"
#include "luminal/graph/composite/reduce.h"

namespace luminal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Executable, RunsWithOtherSizesOnTheSameExecutable) {
  Graph graph;
  Expr s = Expr::var("s", 0, 4097);
  Tensor x = graph.input("x", {s, 2});
  Tensor y = sum(x * 2.0, 1).output("y");
  Executable exe = compile(graph);
  for (int64_t size : {3, 1, 0, 17, 4097}) {
    std::vector<float> values(static_cast<size_t>(size * 2), 1.5f);
    exe.set(x, values);
    exe.run({{"s", size}});
    EXPECT_EQ(exe.get<float>(y), std::vector<float>(static_cast<size_t>(size), 6.0f));
  }
}

TEST(Executable, CarriesStateAcrossRuns) {
  Graph graph;
  Tensor x = graph.input("x", {2});
  Tensor total = graph.state("total", {2});
  Tensor next = total + x;
  graph.update(total, next);
  Tensor before = (total * 1.0).output("before");
  Executable exe = compile(graph);
  exe.set(x, {1.0f, 2.0f});
  exe.run();
  EXPECT_THAT(exe.get<float>(before), ElementsAre(0, 0));
  exe.run();
  EXPECT_THAT(exe.get<float>(before), ElementsAre(1, 2));
  EXPECT_THAT(exe.get<float>(total), ElementsAre(2, 4));
  exe.set(total, {10.0f, 10.0f});
  exe.run();
  EXPECT_THAT(exe.get<float>(total), ElementsAre(11, 12));
}

TEST(Executable, CloneSharesWeightsAndCopiesState) {
  Graph graph;
  Tensor w = graph.weight("w", {2}).set({3.0f, 4.0f});
  Tensor total = graph.state("total", {2});
  graph.update(total, total + w);
  Tensor y = (w + total).output("y");
  Executable one = compile(graph);
  one.run();
  Executable two = one.clone();
  two.run();
  two.run();
  EXPECT_THAT(one.get<float>(total), ElementsAre(3, 4));
  EXPECT_THAT(two.get<float>(total), ElementsAre(9, 12));
  EXPECT_THAT(two.get<float>(y), ElementsAre(9, 12));
}

TEST(Executable, AViewComesOutContiguous) {
  Graph graph;
  Tensor x = graph.input("x", {2, 3});
  Tensor y = x.t().output("y");
  Executable exe = compile(graph);
  exe.set(x, {{1, 2, 3}, {4, 5, 6}});
  exe.run();
  EXPECT_THAT(exe.get<float>(y), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_EQ(exe.get_data(y).dims, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(exe.print(y), "[[1, 4],\n [2, 5],\n [3, 6]]");
}

TEST(Executable, LoadersRunWhenCompiled) {
  Graph graph;
  int calls = 0;
  Tensor w = graph.weight("w", {2}).set([&] {
    ++calls;
    return NestedList{1, 2}.data(DType::F32);
  });
  Tensor y = (w * 2.0).output("y");
  EXPECT_EQ(calls, 0);
  Executable exe = compile(graph);
  EXPECT_EQ(calls, 1);
  exe.run();
  EXPECT_THAT(exe.get<float>(y), ElementsAre(2, 4));
}

TEST(Executable, HalfTypesTakeFloatsAndRound) {
  Graph graph;
  Tensor x = graph.input("x", {2}, DType::BF16);
  Tensor y = (x * 1.0).output("y");
  Executable exe = compile(graph);
  exe.set(x, std::vector<float>{1.001f, 257.0f});
  exe.run();
  EXPECT_THAT(exe.get<float>(y), ElementsAre(1.0f, 256.0f));
  EXPECT_EQ(exe.get_data(y).dtype, DType::BF16);
}

TEST(Executable, EveryDtypeGoesInAndOut) {
  for (DType dtype : all_dtypes()) {
    if (kind(dtype) == DTypeKind::Packed) continue;
    Graph graph;
    Tensor x = graph.input("x", {3}, dtype);
    Tensor y = x.flip({0}).output("y");
    Executable exe = compile(graph);
    exe.set(x, {0, 1, 1});
    exe.run();
    EXPECT_EQ(exe.get_data(y).dtype, dtype);
    EXPECT_THAT(exe.get_data(y).to_ints(), ElementsAre(1, 1, 0)) << name(dtype);
  }
  Graph graph;
  Tensor x = graph.input("x", {2}, DType::Bool);
  x.keep();
  Executable exe = compile(graph);
  exe.set(x, {true, false});
  exe.run();
  EXPECT_EQ(exe.get<bool>(x), (std::vector<bool>{true, false}));
}

TEST(Executable, Float64IsTheYardstick) {
  Graph graph;
  Tensor x = graph.input("x", {1});
  Tensor y = (x + 1e-12).output("y");
  Executable plain = compile(graph, {.backend = {.name = "interp"}});
  Executable exact = compile(graph, {.backend = {.name = "interp", .float64 = true}});
  for (Executable* exe : {&plain, &exact}) {
    exe->set(x, {1.0f});
    exe->run();
  }
  EXPECT_EQ(plain.get<double>(y)[0], 1.0);
  EXPECT_GT(exact.get<double>(y)[0], 1.0);
}

TEST(Executable, LaterChangesToTheGraphDoNotReachIt) {
  Graph graph;
  Tensor x = graph.input("x", {1});
  Tensor y = (x + 1.0).output("y");
  Executable exe = compile(graph);
  y.drop();
  exe.set(x, {1.0f});
  exe.run();
  EXPECT_THAT(exe.get<float>(y), ElementsAre(2.0f));
  Tensor later = y * 2.0;
  EXPECT_THROW(exe.get<float>(later), UserError);
}

TEST(Executable, OutlivesItsGraph) {
  auto graph = std::make_unique<Graph>();
  Tensor y = (graph->literal(NestedList{1, 2}) * 2.0).output("y");
  Executable exe = compile(*graph);
  exe.run();
  EXPECT_THAT(exe.get<float>(y), ElementsAre(2, 4));
  Executable copy = exe.clone();
  graph.reset();
  copy.run();
  exe.run();
}

TEST(Executable, DebugPrintsSteps) {
  Graph graph;
  Tensor x = graph.input("x", {2, 2});
  matmul(x, x).output("y");
  Executable exe = compile(graph);
  exe.set(x, {{1, 2}, {3, 4}});
  std::ostringstream out;
  exe.run({.debug = true, .out = &out});
  EXPECT_THAT(out.str(), HasSubstr("step 1/1"));
  EXPECT_THAT(out.str(), HasSubstr("f32[2, 2]"));
}

// All that nodes and outputs read of a state is its value before the run.
TEST(Executable, OutputsOfAStateAreWhatNodesSee) {
  for (const char* backend : {"cpu", "interp"}) {
    Graph graph;
    Tensor state = graph.state("x", {4});
    graph.update(state, state + 1.0f);
    Tensor output = state.output("state");
    Tensor twice = (state * 2.0f).output("twice");
    Executable executable =
        compile(graph, {.backend = {.name = backend}, .storage = {.cache_folder = "none"}});
    executable.set(state, {1, 2, 3, 4});
    for (float run : {0.0f, 1.0f}) {
      executable.run();
      EXPECT_THAT(executable.get<float>(output),
                  testing::ElementsAre(1 + run, 2 + run, 3 + run, 4 + run));
      EXPECT_EQ(executable.get<float>(twice)[0], 2 + 2 * run);
      EXPECT_EQ(executable.get<float>(state)[0], 2 + run) << "what it holds now";
    }
  }
}

TEST(Executable, RefusesNumbersOfThreadsThatNoMachineHas) {
  Graph graph;
  (graph.input("x", {4}) * 2.0f).output("y");
  for (int threads : {-1, INT_MIN, 100'000, INT_MAX}) {
    EXPECT_THROW(
        compile(graph, {.backend = {.threads = threads}, .storage = {.cache_folder = "none"}}),
        UserError)
        << threads;
  }
}

}  // namespace
}  // namespace luminal
