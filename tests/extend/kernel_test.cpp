// A kernel from outside: a custom op that brings the code that computes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "luminal/luminal.h"

namespace luminal {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// The largest element so far of each row.
void running_max(const float* from, float* to, int64_t size) {
  for (int64_t i = 0; i < size; ++i) to[i] = i > 0 ? std::max(to[i - 1], from[i]) : from[i];
}

// Counts the rows that the kernel computed.
CustomOp running_max_op(std::atomic<int64_t>& rows) {
  return {.name = "running_max",
          .shape_rule = [](const std::vector<TensorType>& inputs) { return inputs[0]; },
          .compute =
              [](const std::vector<TensorData>& inputs, TensorData::Writable& result) {
                const auto* from = reinterpret_cast<const float*>(inputs[0].bytes.data());
                auto* to = reinterpret_cast<float*>(result.bytes.data());
                const int64_t row = inputs[0].dims[1];
                for (int64_t i = 0; i < inputs[0].n_elements(); i += row) {
                  running_max(from + i, to + i, row);
                }
              },
          .kernel = CustomKernel{.parallel_dims = 1, .run = [&rows](const KernelCall& call) {
                                   const int64_t row = call.result.dims[1];
                                   for (int64_t p = call.begin; p < call.end; ++p) {
                                     running_max(call.operands[0].as<float>() + p * row,
                                                 call.result.as<float>() + p * row, row);
                                   }
                                   rows += call.end - call.begin;
                                 }}};
}

TEST(KernelFromOutside, ComputesBetweenKernelsOfTheCompiler) {
  std::atomic<int64_t> rows = 0;
  Graph graph;
  const Expr s = Expr::var("s", 1, 16);
  const Tensor x = graph.input("x", {s, 4});
  const Tensor y = (custom_op(running_max_op(rows), {x * 2.0}) + 1.0).output("y");
  CompileReport report;
  Executable exe = compile(
      graph, {.backend = {.threads = 2}, .storage = {.cache_folder = "none"}, .report = &report});
  EXPECT_THAT(report.notes, Contains(HasSubstr("runs its own kernel")));
  exe.set(x, {{1, 3, 2, 4}, {0, -1, 5, -9}, {-3, -2, -4, -1}});
  exe.run({{"s", 3}}, {.check_kernels = true});
  EXPECT_EQ(exe.get<float>(y), (std::vector<float>{3, 7, 7, 9, 1, 1, 11, 11, -5, -3, -3, -1}));
  EXPECT_GE(rows, 3) << "the kernel computed it, not the callback";
}

TEST(KernelFromOutside, IsTheCallbackOnTheInterpreter) {
  std::atomic<int64_t> rows = 0;
  Graph graph;
  const Tensor x = graph.input("x", {1, 3});
  const Tensor y = custom_op(running_max_op(rows), {x}).output("y");
  Executable exe = compile(graph, {.backend = {.name = "interp"}});
  exe.set(x, {{2, 1, 3}});
  exe.run();
  EXPECT_EQ(exe.get<float>(y), (std::vector<float>{2, 2, 3}));
  EXPECT_EQ(rows, 0);
}

}  // namespace
}  // namespace luminal
