// Every case of both suites: it builds, its work is counted, and small ones compute what the
// interpreter does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/bench/kernels/case.h"
#include "apps/bench/kernels/inputs.h"
#include "apps/bench/kernels/runner.h"
#include "luminal/base/errors.h"
#include "luminal/driver/compile.h"
#include "luminal/graph/tensor.h"
#include "luminal/graph/verify.h"

namespace luminal::bench {
namespace {

std::set<std::string> ops(Level level) {
  std::set<std::string> names;
  for (const Case& of : cases(level)) names.insert(of.op);
  return names;
}

TEST(Cases, BothLevelsHaveTheirOps) {
  EXPECT_EQ(ops(Level::Micro),
            (std::set<std::string>{"exp2", "log2", "sin", "recip", "sqrt", "add", "mul", "mod",
                                   "less_than", "gather", "scatter", "cast", "iota", "sum", "prod",
                                   "max"}));
  EXPECT_EQ(ops(Level::Patterns),
            (std::set<std::string>{"matmul", "softmax", "gelu", "attention", "layer_norm",
                                   "rms_norm", "swiglu", "add_rms_norm", "conv2d"}));
}

TEST(Cases, EveryOpHasEverySizeInEveryFloat) {
  for (Level level : {Level::Micro, Level::Patterns}) {
    std::set<std::string> names;
    for (const Case& of : cases(level)) {
      EXPECT_TRUE(names.insert(of.name()).second) << of.name() << " is there twice";
    }
    for (const std::string& op : ops(level)) {
      for (const char* size : {"tiny", "l1", "l2", "l3", "dram"}) {
        for (const char* dtype : {"f32", "bf16", "f16"}) {
          EXPECT_TRUE(names.contains(op + "/" + size + "/" + dtype)) << op << size << dtype;
        }
      }
    }
    for (const char* op : {"add", "gather", "cast", "iota", "max"}) {
      EXPECT_EQ(names.contains(std::string(op) + "/l2/i8"), level == Level::Micro);
    }
    EXPECT_EQ(names.contains("matmul/l2/i8"), level == Level::Patterns);
  }
}

TEST(Cases, AllVerifyAndSayHowMuchWorkTheyAre) {
  const std::set<std::string> without = {"gather", "scatter", "cast", "iota"};
  for (Level level : {Level::Micro, Level::Patterns}) {
    for (const Case& of : cases(level)) {
      Graph graph;
      of.build(graph);
      EXPECT_NO_THROW(verify(graph)) << of.name();
      EXPECT_EQ(graph.outputs().size(), 1u) << of.name();
      EXPECT_GT(moved_bytes(graph), 0) << of.name();
      EXPECT_EQ(of.flops > 0, !without.contains(of.op)) << of.name();
    }
  }
}

TEST(Cases, BytesAreEveryLeafAndResultOnce) {
  const auto bytes = [](Level level, const std::string& name) {
    for (const Case& of : cases(level)) {
      if (of.name() != name) continue;
      Graph graph;
      of.build(graph);
      return moved_bytes(graph);
    }
    return -1.0;
  };
  EXPECT_EQ(bytes(Level::Micro, "add/l1/f32"), 3 * 4096 * 4);
  EXPECT_EQ(bytes(Level::Micro, "less_than/l1/bf16"), 2 * 4096 * 2 + 4096);
  EXPECT_EQ(bytes(Level::Micro, "iota/l1/i8"), 4096);
  EXPECT_EQ(bytes(Level::Micro, "gather/l1/f16"), 2 * 4096 * 2 + 64 * 4);
  EXPECT_EQ(bytes(Level::Micro, "sum/l1/f32"), 4096 * 4 + 4 * 4);
  EXPECT_EQ(bytes(Level::Patterns, "matmul/l2/bf16"), 3 * 256 * 256 * 2);
}

// One test per case, so that a failure names it.
class SmallCase : public testing::TestWithParam<const Case*> {};

TEST_P(SmallCase, ComputesWhatTheInterpreterDoes) {
  const Case& of = *GetParam();
  Graph graph;
  of.build(graph);
  const Inputs inputs = make_inputs(of, graph);
  const Tensor result = graph.tensor(graph.outputs().front().node);
  const auto run = [&](const char* backend) {
    CompileOptions options;
    options.backend.name = backend;
    options.backend.threads = 2;
    options.storage.cache_folder = "none";
    Executable executable = compile(graph, options);
    set_inputs(executable, graph, inputs);
    executable.run();
    executable.run();  // as benchmarks do: again over the same memory
    return executable.get_data(result).to_doubles();
  };
  const std::vector<double> want = run("interp"), got = run("cpu");
  ASSERT_EQ(got.size(), want.size());
  const double tolerance = is_half(of.dtype) ? 0.04 : 1e-4;
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i]))) << of.name() << " at " << i;
    // NaN or infinities would make some kernels slower, or time nothing of use.
    EXPECT_TRUE(std::isfinite(want[i])) << of.name() << " at " << i;
  }
}

std::vector<const Case*> small_cases() {
  std::vector<const Case*> list;
  for (Level level : {Level::Micro, Level::Patterns}) {
    for (const Case& of : cases(level)) {
      if (of.size == Size::Tiny) list.push_back(&of);
    }
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(Cases, SmallCase, testing::ValuesIn(small_cases()), [](const auto& of) {
  std::string name = of.param->name();
  for (char& c : name) c = c == '/' ? '_' : c;
  return name;
});

TEST(Inputs, IndicesNameEachRowOnceAndDataIsTheSameAgain) {
  for (const Case& of : cases(Level::Micro)) {
    if (of.name() != "scatter/l1/i8") continue;
    Graph graph;
    of.build(graph);
    const Inputs inputs = make_inputs(of, graph), again = make_inputs(of, graph);
    const std::vector<int64_t> index = inputs.at("index").to_ints();
    EXPECT_EQ(std::set<int64_t>(index.begin(), index.end()).size(), index.size());
    EXPECT_EQ(*std::max_element(index.begin(), index.end()),
              static_cast<int64_t>(index.size()) - 1);
    EXPECT_FALSE(std::is_sorted(index.begin(), index.end()));
    EXPECT_EQ(inputs.at("x").to_ints(), again.at("x").to_ints());
    for (int64_t value : inputs.at("x").to_ints()) EXPECT_TRUE(value >= 1 && value <= 100);
    return;
  }
  FAIL() << "there is no such case";
}

TEST(Tasks, AreChosenByNameSizeDtypeThreadsAndBackend) {
  Selection selection{.level = Level::Micro,
                      .filter = "add/,sum/l1",
                      .sizes = {Size::L1, Size::L2},
                      .dtypes = {DType::F32, DType::I8},
                      .threads = {1, 2},
                      .backends = {"cpu", "interp"}};
  // add in two sizes and two dtypes, sum in one size.
  EXPECT_EQ(tasks(selection).size(), (4 + 2) * 2 * 2u);
  EXPECT_EQ(tasks(selection).front().name(), "add/l1/f32/cpu/t1");
  selection.filter = "nothing";
  EXPECT_THROW(tasks(selection), UserError);
}

TEST(Tasks, LargeOnesAreNotInterpreted) {
  const Selection selection{.level = Level::Micro,
                            .filter = "add",
                            .sizes = {Size::L1, Size::Dram},
                            .dtypes = {DType::F32},
                            .threads = {1},
                            .backends = {"interp"}};
  const std::vector<Task> list = tasks(selection);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(why_left_out(list[0]), "");
  EXPECT_NE(why_left_out(list[1]), "");
}

TEST(Runner, TakesSamplesByGoogleBenchmark) {
  for (const char* backend : {"cpu", "interp"}) {
    const Selection selection{.level = Level::Micro,
                              .filter = "exp2",
                              .sizes = {Size::L1},
                              .dtypes = {DType::F32},
                              .threads = {1},
                              .backends = {backend}};
    const Measured measured =
        run_task(tasks(selection).front(), {.min_seconds = 0.02, .cache_folder = "none"});
    EXPECT_GE(measured.seconds.size(), 3u);
    EXPECT_LE(measured.seconds.size(), 5000u);
    for (double seconds : measured.seconds) EXPECT_GT(seconds, 0);
    EXPECT_EQ(measured.bytes, 2 * 4096 * 4);
    EXPECT_EQ(measured.kernels, std::string(backend) == "cpu" ? 1 : 0);
  }
}

}  // namespace
}  // namespace luminal::bench
