// Kernels that custom ops bring: they see their tensors as they are, on every thread, for every
// size; `compute` stays the meaning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "luminal/luminal.h"

namespace luminal {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// result = a + 2 b, element by element, where the interpreter and each kernel below agree.
CustomOp add_twice(CustomKernel kernel) {
  return {.name = "add_twice",
          .shape_rule = [](const std::vector<TensorType>& types) { return types[0]; },
          .compute =
              [](const std::vector<TensorData>& inputs, TensorData::Writable& result) {
                const auto* a = reinterpret_cast<const float*>(inputs[0].bytes.data());
                const auto* b = reinterpret_cast<const float*>(inputs[1].bytes.data());
                auto* out = reinterpret_cast<float*>(result.bytes.data());
                for (int64_t i = 0; i < inputs[0].n_elements(); ++i) out[i] = a[i] + 2 * b[i];
              },
          .kernel = std::move(kernel)};
}

void add_rows(const KernelCall& call) {
  int64_t width = 1;
  for (int64_t dim : call.result.dims.subspan(1)) width *= dim;
  const auto* a = call.operands[0].as<float>();
  const auto* b = call.operands[1].as<float>();
  for (int64_t i = call.begin * width; i < call.end * width; ++i) {
    call.result.as<float>()[i] = a[i] + 2 * b[i];
  }
}

std::vector<float> counted(int64_t size) {
  std::vector<float> values(static_cast<size_t>(size));
  std::iota(values.begin(), values.end(), 0.5f);
  return values;
}

Executable compile_here(const Graph& graph, int threads, CompileReport* report = nullptr) {
  return compile(
      graph,
      {.backend = {.threads = threads}, .storage = {.cache_folder = "none"}, .report = report});
}

class CustomKernelOn : public testing::TestWithParam<int> {};

TEST_P(CustomKernelOn, ComputesDynamicSizes) {
  Graph graph;
  const Expr s = Expr::var("s", 0, 100);
  Tensor x = graph.input("x", {s, 5});
  Tensor y = (custom_op(add_twice({.run = add_rows}), {x * 3.0, x}) + 1.0).output("y");
  Executable exe = compile_here(graph, GetParam());
  for (int64_t size : {1, 0, 64, 7}) {
    const std::vector<float> values = counted(size * 5);
    exe.set(x, values);
    exe.run({{"s", size}}, {.check_kernels = size == 7});
    std::vector<float> expected;
    for (float value : values) expected.push_back(3 * value + 2 * value + 1);
    EXPECT_EQ(exe.get<float>(y), expected) << size;
  }
}

TEST_P(CustomKernelOn, SeesItsTensorsAndCoversEachPointOnce) {
  Graph graph;
  Tensor x = graph.input("x", {3, 4, 6});
  std::vector<std::atomic<int>> calls(12);
  auto run = [&](const KernelCall& call) {
    ASSERT_EQ(call.operands.size(), 2u);
    EXPECT_EQ(call.operands[0].data, call.operands[1].data) << "one tensor, given twice";
    EXPECT_EQ(call.operands[0].dtype, DType::F32);
    EXPECT_THAT(call.operands[1].dims, testing::ElementsAre(3, 4, 6));
    EXPECT_THAT(call.result.dims, testing::ElementsAre(3, 4, 6));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(call.result.data) % 64, 0u);
    for (int64_t p = call.begin; p < call.end; ++p) {
      ++calls[static_cast<size_t>(p)];
      for (int64_t i = p * 6; i < (p + 1) * 6; ++i) {
        call.result.as<float>()[i] = 3 * call.operands[0].as<float>()[i];
      }
    }
  };
  Tensor y = custom_op(add_twice({.parallel_dims = 2, .run = run}), {x, x}).output("y");
  Executable exe = compile_here(graph, GetParam());
  exe.set(x, counted(72));
  exe.run();
  EXPECT_EQ(exe.get<float>(y)[71], 3 * 71.5f);
  for (const std::atomic<int>& count : calls) EXPECT_EQ(count, 1);
}

TEST_P(CustomKernelOn, AnErrorOfTheFirstRangeEndsTheRun) {
  Graph graph;
  Tensor x = graph.input("x", {10, 2});
  bool fails = true;
  auto run = [&](const KernelCall& call) {
    if (fails) throw std::runtime_error("from point " + std::to_string(call.begin));
    add_rows(call);
  };
  Tensor y = custom_op(add_twice({.run = run}), {x, x}).output("y");
  Executable exe = compile_here(graph, GetParam());
  exe.set(x, counted(20));
  for (int round = 0; round < 3; ++round) {
    try {
      exe.run();
      FAIL() << "no error";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "custom op 'add_twice': kernel: from point 0");
    }
  }
  fails = false;
  exe.run();
  EXPECT_EQ(exe.get<float>(y)[19], 3 * 19.5f) << "the next run is not disturbed";
}

INSTANTIATE_TEST_SUITE_P(Threads, CustomKernelOn, testing::Values(1, 2));

TEST(CustomKernel, WithoutParallelDimsIsCalledOnce) {
  Graph graph;
  Tensor x = graph.input("x", {10, 2});
  std::atomic<int> calls = 0;
  auto run = [&](const KernelCall& call) {
    ++calls;
    EXPECT_EQ(call.begin, 0);
    EXPECT_EQ(call.end, 1);
    KernelCall rows = call;
    rows.end = 10;
    add_rows(rows);
  };
  Tensor y = custom_op(add_twice({.parallel_dims = 0, .run = run}), {x, x}).output("y");
  Executable exe = compile_here(graph, 2);
  exe.set(x, counted(20));
  exe.run();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(exe.get<float>(y)[19], 3 * 19.5f);
}

TEST(CustomKernel, IsNotWhatTheInterpreterRuns) {
  Graph graph;
  Tensor x = graph.input("x", {10, 2});
  auto run = [](const KernelCall&) { FAIL() << "the interpreter uses compute"; };
  Tensor y = custom_op(add_twice({.run = run}), {x, x}).output("y");
  Executable exe = compile(graph, {.backend = {.name = "interp"}});
  exe.set(x, counted(20));
  exe.run();
  EXPECT_EQ(exe.get<float>(y)[19], 3 * 19.5f);
}

TEST(CustomKernel, IsInReportAndTrace) {
  Graph graph;
  Tensor x = graph.input("x", {10, 2});
  custom_op(add_twice({.run = add_rows}), {x, x * 2.0}).output("y");
  CompileReport report;
  Executable exe = compile_here(graph, 2, &report);
  EXPECT_THAT(report.notes, testing::Contains(HasSubstr("runs its own kernel")));
  exe.set(x, counted(20));
  Trace trace{.events = {}, .roofline = {1e9, 1e9}};
  exe.run({.trace = &trace});
  const auto own =
      std::find_if(trace.events.begin(), trace.events.end(), [](const TraceEvent& event) {
        return event.name.find("own kernel of") != std::string::npos;
      });
  ASSERT_NE(own, trace.events.end());
  EXPECT_EQ(own->kind, "kernel");
  EXPECT_EQ(own->threads, 2);
  EXPECT_EQ(own->bytes, 3 * 20 * 4);
  EXPECT_THAT(own->reads, testing::ElementsAre("f32[10, 2]", "f32[10, 2]"));
}

// What a checked run says of a kernel that is wrong.
std::string checked(CustomKernel kernel) {
  Graph graph;
  Tensor x = graph.input("x", {10, 2});
  (custom_op(add_twice(std::move(kernel)), {x, x}) * 2.0).output("y");
  Executable exe = compile_here(graph, 2);
  exe.set(x, counted(20));
  try {
    exe.run({.check_kernels = true});
  } catch (const UserError& error) {
    return error.what();
  }
  return "right";
}

TEST(CustomKernel, IsCheckedAgainstCompute) {
  EXPECT_EQ(checked({.run = add_rows}), "right");
  auto forgets_the_last = [](KernelCall call) {
    call.end = std::min<int64_t>(call.end, 9);
    add_rows(call);
  };
  EXPECT_THAT(checked({.run = forgets_the_last}),
              AllOf(HasSubstr("own kernel of"), HasSubstr("disagrees with the op's compute"),
                    HasSubstr("first wrong element [9, 0]"), HasSubstr("(never written)")));
  auto writes_too_far = [](const KernelCall& call) {
    add_rows(call);
    if (call.end == 10) call.result.as<float>()[20] = 1;
  };
  EXPECT_THAT(checked({.run = writes_too_far}),
              AllOf(HasSubstr("writes outside its output"), HasSubstr("past the end")));
}

TEST(CustomKernel, ThatCannotRunIsRefused) {
  Graph graph;
  Tensor x = graph.input("x", {10, 2});
  auto message = [&](CustomKernel kernel) -> std::string {
    try {
      custom_op(add_twice(std::move(kernel)), {x, x});
    } catch (const UserError& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_THAT(message({}), HasSubstr("set CustomKernel::run or leave the kernel out"));
  EXPECT_THAT(message({.parallel_dims = 3, .run = add_rows}),
              HasSubstr("3 parallel dims, but the result has 2 dims; choose 0 to 2"));
  EXPECT_THAT(message({.parallel_dims = -1, .run = add_rows}), HasSubstr("choose 0 to 2"));
}

}  // namespace
}  // namespace luminal
