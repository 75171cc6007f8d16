// An index outside of its dim ends a run, with the same words on every backend; elements that are
// padding in the end don't count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../search/planned.h"
#include "luminal/backends/cpu/schedule/gathered_rows.h"
#include "luminal/base/errors.h"
#include "luminal/graph/primitives.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

using testing::HasSubstr;

constexpr const char* kBackends[] = {"cpu", "interp"};

Executable compiled(const Graph& graph, const char* backend, int threads = 2) {
  return compile(graph, {.backend = {.name = backend, .threads = threads},
                         .storage = {.cache_folder = "none"}});
}

std::string why_refused(Executable& executable, const Bindings& bindings = {}) {
  try {
    executable.run(bindings);
  } catch (const UserError& error) {
    return error.what();
  }
  return "it ran";
}

TEST(StrayRows, OfAGatherAreNamedWithPositionValueAndSize) {
  for (const char* backend : kBackends) {
    for (int64_t stray : {int64_t{7}, int64_t{3}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
      Graph graph;
      Tensor table = graph.weight("table", {3, 5});
      Tensor ids = graph.input("ids", {2, 2}, DType::I64);
      Tensor y = embedding(table, ids).output("y");
      Executable executable = compiled(graph, backend);
      executable.set(table, std::vector<float>(15, 1));
      executable.set(ids, std::vector<int64_t>{0, 2, stray, 1});
      const std::string why = why_refused(executable);
      EXPECT_THAT(why,
                  HasSubstr(std::to_string(stray) + " at [1, 0] is outside 0 … 2: there are 3"))
          << backend;
      EXPECT_THAT(why, HasSubstr("'ids'"));
      executable.set(ids, std::vector<int64_t>{0, 2, 0, 1});  // the next run is as good as any
      executable.run();
      EXPECT_EQ(executable.get<float>(y), std::vector<float>(20, 1));
    }
  }
}

// In vectors, in what is left over, with each number of threads.
TEST(StrayRows, AreFoundWhereverTheyStand) {
  for (DType dtype : {DType::I32, DType::I64}) {
    for (int64_t size : {1, 3, 15, 16, 17, 4097}) {
      for (int threads : {1, 2, 5}) {
        Graph graph;
        Tensor table = graph.input("table", {100});
        Tensor ids = graph.input("ids", {size}, dtype);
        Tensor y = (index_select(table, 0, ids) * 2.0f).output("y");
        Executable executable = compiled(graph, "cpu", threads);
        executable.set(table, std::vector<float>(100, 1));
        for (int64_t at : {int64_t{0}, size / 2, size - 1}) {
          std::vector<int64_t> values(static_cast<size_t>(size), 99);
          values[static_cast<size_t>(at)] = 100;
          executable.set(ids, TensorData::copy_of<int64_t>(values, {size}).cast(dtype));
          EXPECT_THAT(why_refused(executable),
                      HasSubstr("index 100 at [" + std::to_string(at) + "] is outside 0 … 99"));
          values[static_cast<size_t>(at)] = 98;
          executable.set(ids, TensorData::copy_of<int64_t>(values, {size}).cast(dtype));
          EXPECT_EQ(why_refused(executable), "it ran");
          EXPECT_EQ(executable.get<float>(y).back(), 2);
        }
      }
    }
  }
}

TEST(StrayRows, OfComputedIndicesAreFoundToo) {
  for (const char* backend : kBackends) {
    Graph graph;
    const Expr n = Expr::var("n", 0, 50);
    Tensor x = graph.input("x", {n, 4});
    Tensor ids = graph.input("ids", {n}, DType::I64) + 1;
    matmul(index_select(x, 0, ids), graph.input("w", {4, 8})).output("y");
    Executable executable = compiled(graph, backend);
    executable.set(*graph.find("w"), std::vector<float>(32, 1));
    for (int64_t size : {3, 17, 0, 5}) {
      executable.set(x, std::vector<float>(static_cast<size_t>(size) * 4, 1));
      std::vector<int64_t> values(static_cast<size_t>(size), 0);
      executable.set(*graph.find("ids"), values);
      if (size == 0) {
        EXPECT_EQ(why_refused(executable, {{"n", size}}), "it ran");
        continue;
      }
      EXPECT_EQ(why_refused(executable, {{"n", size}}), "it ran");
      values.back() = size - 1;
      executable.set(*graph.find("ids"), values);
      EXPECT_THAT(why_refused(executable, {{"n", size}}),
                  HasSubstr("index " + std::to_string(size) + " at [" + std::to_string(size - 1)));
    }
  }
}

// Its flat position may lie inside of x.
TEST(StrayRows, AlongAnAxisAreFound) {
  for (const char* backend : kBackends) {
    Graph graph;
    Tensor x = graph.input("x", {4, 3});
    Tensor ids = graph.input("ids", {4, 2}, DType::I64);
    gather(x, 1, ids).output("y");
    Executable executable = compiled(graph, backend);
    executable.set(x, std::vector<float>(12, 1));
    executable.set(ids, std::vector<int64_t>{0, 1, 2, 0, 1, 3, 2, 0});
    EXPECT_THAT(why_refused(executable), HasSubstr("at [2, 1] is outside")) << backend;
  }
}

TEST(StrayRows, OfAScatterAreNamed) {
  for (const char* backend : kBackends) {
    Graph graph;
    Tensor cache = graph.state("cache", {3, 2});
    Tensor ids = graph.input("ids", {2}, DType::I64);
    graph.update(cache, prim::scatter(cache, ids, graph.input("rows", {2, 2})));
    Executable executable = compiled(graph, backend);
    executable.set(*graph.find("rows"), std::vector<float>(4, 1));
    executable.set(ids, std::vector<int64_t>{2, 3});
    EXPECT_THAT(why_refused(executable), HasSubstr("index 3 at [1] is outside 0 … 2: there are 3"))
        << backend;
  }
}

// Where a run has rewritten what the index came from, nobody can compute it again.
TEST(StrayRows, ThatComeFromAStateAreAnErrorToo) {
  Graph graph;
  Tensor at = graph.state("at", {1}, DType::I64);
  graph.update(at, at + 1);
  index_select(graph.input("x", {2, 3}), 0, at).output("y");
  Executable executable = compiled(graph, "cpu");
  executable.set(*graph.find("x"), std::vector<float>(6, 1));
  executable.run();
  executable.run();
  EXPECT_THAT(why_refused(executable), HasSubstr("an index is out of range"));
}

// A kernel computes what is under the padding too: there the index is −1, and nobody reads it.
TEST(StrayRows, UnderPaddingAreNone) {
  for (const char* backend : kBackends) {
    Graph graph;
    Tensor table = graph.input("table", {6});
    Tensor shifts = graph.input("shifts", {6}, DType::I64);
    Tensor count = prim::iota(graph, Expr::index(0, 6), {6}, DType::I64);
    Tensor y = pad(index_select(table, 0, count - shifts), {{3, 3}}).output("y");
    Executable executable = compiled(graph, backend);
    executable.set(table, std::vector<float>{1, 2, 3, 4, 5, 6});
    executable.set(shifts, std::vector<int64_t>{0, 0, 0, 0, 0, 0});
    EXPECT_EQ(why_refused(executable), "it ran");
    EXPECT_EQ(executable.get<float>(y), (std::vector<float>{0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0}));
    executable.set(shifts, std::vector<int64_t>{1, 0, 0, 0, 0, 0});
    EXPECT_THAT(why_refused(executable), HasSubstr("index -1 at [0] is outside 0 … 5"));
  }
}

TEST(StrayRows, OfNothingAreNone) {
  for (const char* backend : kBackends) {
    Graph graph;
    const Expr n = Expr::var("n", 0, 9), m = Expr::var("m", 0, 9);
    Tensor x = graph.input("x", {n, 2});
    Tensor ids = graph.input("ids", {m}, DType::I64);
    pad(index_select(x, 0, ids), {{1, 1}, {0, 0}}).output("y");
    Executable executable = compiled(graph, backend);
    executable.set(x, std::vector<float>{});
    executable.set(ids, std::vector<int64_t>{});
    EXPECT_EQ(why_refused(executable, {{"n", 0}, {"m", 0}}), "it ran");
    executable.set(ids, std::vector<int64_t>{0});
    EXPECT_THAT(why_refused(executable, {{"n", 0}, {"m", 1}}), HasSubstr("there are no rows"));
  }
}

bool looks_at_rows(const Graph& graph) {
  const search::FoundPlan found = search::plan(graph);
  bool looks = false;
  for (const auto& step : found.plan.steps) {
    const auto& kernel = std::get<kernel::KernelStep>(step).lowered.kernel;
    looks |= backends::cpu::looks_at_rows(kernel);
  }
  return looks;
}

TEST(StrayRows, AreNotLookedForWhereTheyCannotBe) {
  Graph known, data;
  Tensor table = known.input("table", {6, 4});
  Tensor rows = prim::iota(known, Expr::index(0, 12) % 6, {12}, DType::I64);
  index_select(table, 0, rows).output("y");
  EXPECT_FALSE(looks_at_rows(known));
  index_select(data.input("table", {6, 4}), 0, data.input("ids", {3}, DType::I64)).output("y");
  EXPECT_TRUE(looks_at_rows(data));
}

}  // namespace
}  // namespace luminal
