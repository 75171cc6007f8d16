// States in the caller's memory, and calls by port.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <sstream>

#include "luminal/luminal.h"

namespace luminal {
namespace {

CompileOptions on(const std::string& backend) {
  return {.backend = {.name = backend}, .storage = {.cache_folder = "none"}};
}

// sum += x in each run, and y is the sum before it.
struct Counter {
  explicit Counter(const std::string& backend, size_t size = 4) : count(size) {
    x = graph.input("x", {count});
    sum = graph.state("sum", {count});
    graph.update(sum, sum + x);
    (sum * 1.0).output("y");
    exe.emplace(compile(graph, on(backend)));
    exe->set(x, std::vector<float>(count, 1.0f));
  }
  size_t count;
  Graph graph;
  Tensor x, sum;
  std::optional<Executable> exe;
};

class StatesOn : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Backends, StatesOn, testing::Values("cpu", "interp"));

TEST_P(StatesOn, AreReadAndUpdatedInTheCallersMemory) {
  Counter of(GetParam());
  alignas(64) std::array<float, 4> memory = {10, 20, 30, 40};
  of.exe->bind_state(of.sum, DType::F32, std::as_writable_bytes(std::span(memory)));
  EXPECT_FALSE(of.exe->is_copied(of.sum));
  of.exe->run();
  EXPECT_EQ(memory, (std::array<float, 4>{11, 21, 31, 41}));
  memory[0] = 100;
  of.exe->run();
  EXPECT_EQ(memory[0], 101.0f) << "what the caller wrote is the state's value";
  EXPECT_EQ(of.exe->get<float>("y")[0], 100.0f);
  EXPECT_EQ(of.exe->view<float>(of.sum).data(), memory.data());
  of.exe->set(of.sum, {1, 2, 3, 4});
  EXPECT_EQ(memory, (std::array<float, 4>{1, 2, 3, 4})) << "set() writes to it";
}

TEST_P(StatesOn, AreCopiedWhereMemoryIsNotAligned) {
  Counter of(GetParam(), 1000);
  alignas(64) std::array<float, 1002> memory = {};
  const auto bytes = std::as_writable_bytes(std::span(memory).subspan(1, 1000));
  of.exe->bind_state("sum", DType::F32, bytes);
  EXPECT_TRUE(of.exe->is_copied("sum"));
  of.exe->run();
  memory[1] = 5;
  of.exe->run();
  EXPECT_EQ(memory[1], 6.0f);
  EXPECT_EQ(memory[1000], 2.0f);
  EXPECT_EQ(memory[0] + memory[1001], 0.0f) << "nothing beside it was written";
  EXPECT_EQ(of.exe->get<float>(of.sum)[0], 6.0f);
  Executable clone = of.exe->clone();
  EXPECT_EQ(clone.get<float>(of.sum)[0], 6.0f);
}

TEST_P(StatesOn, AreTheirOwnInClonesAndAfterUnbinding) {
  Counter of(GetParam());
  alignas(64) std::array<float, 4> memory = {10, 20, 30, 40};
  of.exe->bind_state(of.sum, DType::F32, std::as_writable_bytes(std::span(memory)));
  Executable clone = of.exe->clone();
  clone.set(of.x, {1, 1, 1, 1});
  clone.run();
  EXPECT_EQ(clone.get<float>(of.sum)[0], 11.0f) << "clones begin with the value";
  EXPECT_EQ(memory[0], 10.0f);
  of.exe->unbind_state(of.sum);
  of.exe->run();
  EXPECT_EQ(of.exe->get<float>(of.sum)[0], 1.0f) << "as if it was never set";
  EXPECT_EQ(memory[0], 10.0f);
}

TEST_P(StatesOn, ThatExchangeTheirValuesDoSoInTheCallersMemory) {
  Graph graph;
  Tensor a = graph.state("a", {3}), b = graph.state("b", {3});
  graph.update(a, b);
  graph.update(b, a);
  Executable exe = compile(graph, on(GetParam()));
  alignas(64) std::array<float, 3> first = {1, 2, 3};
  alignas(64) std::array<float, 4> second = {0, 4, 5, 6};  // not aligned from element 1 on
  exe.bind_state(a, DType::F32, std::as_writable_bytes(std::span(first)));
  exe.bind_state(b, DType::F32, std::as_writable_bytes(std::span(second).subspan(1)));
  exe.run();
  EXPECT_EQ(first, (std::array<float, 3>{4, 5, 6}));
  EXPECT_EQ(second, (std::array<float, 4>{0, 1, 2, 3}));
}

TEST_P(StatesOn, FollowTheSizesOfARun) {
  Graph graph;
  const Expr n = Expr::var("n", 0, 64);
  Tensor sum = graph.state("sum", {n, 2}, DType::I64);
  graph.update(sum, sum + 1);
  Executable exe = compile(graph, on(GetParam()));
  alignas(64) std::array<int64_t, 10> memory = {};
  for (size_t rows : {3, 5, 0, 3}) {
    const auto bytes = std::as_writable_bytes(std::span(memory).first(2 * rows));
    exe.bind_state(sum, DType::I64, bytes);
    exe.run({{"n", static_cast<int64_t>(rows)}});
    EXPECT_THROW(exe.run({{"n", static_cast<int64_t>(rows) + 1}}), UserError);
  }
  EXPECT_EQ(memory[0], 3);
  EXPECT_EQ(memory[6], 1);
}

TEST(ExecutableStates, OfEachDtypeAreBound) {
  for (DType dtype : {DType::BF16, DType::F16, DType::F64, DType::Bool, DType::U8, DType::I32}) {
    Graph graph;
    Tensor x = graph.input("x", {5}, dtype);
    Tensor kept = graph.state("kept", {5}, dtype);
    graph.update(kept, maximum(kept, x));
    Executable exe = compile(graph, on("cpu"));
    const TensorData ones = NestedList({1, 0, 1, 0, 1}).data(dtype);
    exe.set(x, ones);
    alignas(64) std::array<std::byte, 64> memory = {};
    exe.bind_state(kept, dtype, std::span(memory).first(ones.bytes.size()));
    exe.run();
    EXPECT_EQ(std::memcmp(memory.data(), ones.bytes.data(), ones.bytes.size()), 0) << name(dtype);
    EXPECT_EQ(memory[ones.bytes.size()], std::byte(0)) << name(dtype);
  }
}

TEST(ExecutableStates, InTheCallersMemoryAreTracedAndChecked) {
  Counter of("cpu");
  alignas(64) std::array<float, 5> memory = {1, 2, 3, 4, 5};
  for (size_t start : {0, 1}) {
    const auto bytes = std::as_writable_bytes(std::span(memory).subspan(start, 4));
    of.exe->bind_state(of.sum, DType::F32, bytes);
    Trace trace;
    const float before = memory[start];
    of.exe->run({.trace = &trace, .check_kernels = true});
    EXPECT_EQ(memory[start], before + 1);
    EXPECT_FALSE(trace.events.empty());
  }
}

TEST(ExecutableStates, BoundTwiceOrOverOtherMemoryAreAnError) {
  Graph graph;
  Tensor x = graph.input("x", {16});
  Tensor a = graph.state("a", {16}), b = graph.state("b", {16});
  graph.update(a, a + x);
  graph.update(b, b - x);
  Executable exe = compile(graph, on("cpu"));
  alignas(64) std::array<float, 32> memory = {};
  const auto part = [&](size_t from) {
    return std::as_writable_bytes(std::span(memory).subspan(from, 16));
  };
  const auto fails = [&](const std::string& said) {
    try {
      exe.run();
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
      return;
    }
    FAIL() << said;
  };
  exe.set(x, std::vector<float>(16, 1.0f));
  exe.bind_state(a, DType::F32, part(0));
  exe.bind_state(b, DType::F32, part(8));
  fails("the memory bound to state 'a' overlaps that of 'b'");
  exe.bind_state(b, DType::F32, part(16));
  exe.run();
  EXPECT_EQ(memory[0], 1.0f);
  EXPECT_EQ(memory[31], -1.0f);
  exe.set(x, TensorData{.dtype = DType::F32, .dims = {16}, .bytes = part(16), .owner = nullptr});
  fails("the memory bound to state 'b' overlaps that of 'x'");
  EXPECT_THROW(exe.bind_state(x, DType::F32, part(0)), UserError);
  EXPECT_THROW(exe.bind_state(a, DType::F64, part(0)), UserError);
  EXPECT_THROW(exe.bind_state(a, DType::F32, part(0).first(32)), UserError);
  EXPECT_THROW(exe.set(a, TensorData::zeros(DType::F32, {2, 8}).data), UserError);
}

TEST(ExecutablePorts, StandForTensorsAndNames) {
  Graph graph;
  Tensor x = graph.input("x", {2});
  x.output("same");
  (x * 2.0).output("y");
  Executable exe = compile(graph, on("cpu"));
  const ExecutablePort in = exe.leaf_port("x"), same = exe.result_port("same"),
                       y = exe.result_port("y");
  alignas(64) std::array<float, 2> memory = {};
  exe.set(in, {1, 2});
  exe.bind_output(same, memory);
  exe.run();
  EXPECT_EQ(exe.get<float>(y), (std::vector<float>{2, 4}));
  EXPECT_EQ(memory[1], 2.0f) << "an output that is an input has a port of its own";
  EXPECT_THROW(exe.set(y, {1, 2}), UserError);
  EXPECT_THROW(exe.bind_output(in, memory), UserError);
  EXPECT_THROW(exe.set(ExecutablePort{99}, {1, 2}), UserError);
  EXPECT_THROW(exe.leaf_port("y"), UserError);
}

}  // namespace
}  // namespace luminal
