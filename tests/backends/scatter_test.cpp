// Scatters in kernels: the last of equal rows wins or all are combined, rows outside leave memory
// alone, and the bits are the same with any number of threads.
#include "../search/planned.h"
#include "against_interpreter.h"
#include "luminal/backends/cpu/launch/launch.h"
#include "luminal/backends/cpu/llvm/jit.h"
#include "luminal/base/errors.h"

namespace luminal {
namespace {

constexpr DType kScatterDTypes[] = {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64,
                                    DType::I32, DType::I16, DType::I8,  DType::U8,   DType::Bool};

TEST(Scatter, IsRightAtOddSizesInEveryDType) {
  for (DType dtype : kScatterDTypes) {
    const bool main = dtype == DType::F32 || dtype == DType::BF16 || dtype == DType::I8;
    for (int64_t width :
         main ? std::vector<int64_t>{0, 1, 3, 15, 16, 17, 4097} : std::vector<int64_t>{3, 17}) {
      for (std::optional<Reducer> combine :
           {std::optional<Reducer>(), std::optional(Reducer::Sum), std::optional(Reducer::Max)}) {
        SCOPED_TRACE(std::string(name(dtype)) + " " + std::to_string(width));
        Graph graph;
        Tensor dest = graph.input("dest", {5, width}, dtype);
        Tensor index = graph.input("index", {9}, DType::I64);
        Tensor values = graph.input("values", {9, width}, dtype);
        Tensor y = prim::scatter(dest, index, values, combine).output("y");
        Comparison comparison{graph, {y}, {}, {{"index", 5}}};
        comparison.run({{}, {}});
        EXPECT_TRUE(comparison.report.notes.empty());
      }
    }
  }
}

TEST(Scatter, OfSingleElementsIsRight) {
  for (DType index_dtype : {DType::I64, DType::I32}) {
    for (int64_t size : {0, 1, 3, 17, 4097}) {
      Graph graph;
      Tensor dest = graph.input("dest", {7});
      Tensor index = graph.input("index", {size}, index_dtype);
      Tensor values = graph.input("values", {size});
      Tensor y = prim::scatter(dest, index, values).output("y");
      Tensor z = prim::scatter(dest, index, values, Reducer::Sum).output("z");
      Comparison comparison{graph, {y, z}, {}, {{"index", 7}}};
      comparison.relative = 1e-4;
      comparison.run({{}, {}});
    }
  }
}

TEST(Scatter, WithDynamicDimsIsRightRunAfterRun) {
  Graph graph;
  Expr n = Expr::var("n", 0, 100), w = Expr::var("w", 0, 5000);
  Tensor dest = graph.input("dest", {11, w});
  Tensor index = graph.input("index", {n}, DType::I64);
  Tensor y = prim::scatter(dest, index, graph.input("values", {n, w}), Reducer::Sum).output("y");
  Comparison comparison{graph, {y}, {}, {{"index", 11}}};
  comparison.run({{{"n", 5}, {"w", 17}},
                  {{"n", 0}, {"w", 3}},
                  {{"n", 100}, {"w", 4097}},
                  {{"n", 7}, {"w", 0}},
                  {{"n", 1}, {"w", 1}}});
}

TEST(Scatter, FusesWhatMakesItsOperands) {
  Graph graph;
  Tensor dest = zeros(graph, {13, 40});
  Tensor index = graph.input("index", {2, 3}, DType::I64) + 1;
  Tensor values = exp(graph.input("values", {2, 3, 40})) * 2.0f;
  Tensor y = prim::scatter(dest, index, values, Reducer::Sum).output("y");
  Comparison comparison{graph, {y}, {.plan = {.fusion = FusionPolicy::Always}}, {{"index", 12}}};
  comparison.run({{}, {}});
  EXPECT_EQ(comparison.report.kernels.size(), 1u);
}

TEST(Scatter, IntoWhatItsValuesReadIsRight) {
  Graph graph;
  Tensor dest = graph.input("dest", {6, 20});
  Tensor index = graph.input("index", {4}, DType::I64);
  Tensor values = index_select(dest, 0, index) * 2.0f;
  Tensor y = prim::scatter(dest, index, values).output("y");
  Comparison comparison{graph, {y}, {.plan = {.fusion = FusionPolicy::Always}}, {{"index", 6}}};
  comparison.run({{}, {}});
  EXPECT_EQ(comparison.report.kernels.at(0).text.find("shares"), std::string::npos);
}

// Only then may the output have the memory of dest.
TEST(Scatter, MayShareTheMemoryOfWhatItOnlyCopies) {
  Graph graph;
  Tensor dest = graph.input("dest", {6, 20});
  Tensor index = graph.input("index", {4}, DType::I64);
  prim::scatter(dest, index, graph.input("values", {4, 20})).output("y");
  CompileReport report;
  compile(graph, {.storage = {.cache_folder = "none"}, .report = &report});
  EXPECT_NE(report.kernels.at(0).text.find("shares p0"), std::string::npos);
}

TEST(Scatter, InTheMemoryOfDestUpdatesItsRowsAlone) {
  namespace cpu = backends::cpu;
  Graph graph;
  Tensor dest = graph.input("dest", {3, 2});
  Tensor index = graph.input("index", {2}, DType::I64);
  prim::scatter(dest, index, graph.input("values", {2, 2}), Reducer::Sum).output("y");
  const search::FoundPlan found = search::plan(graph);
  const kernel::Kernel& kernel = std::get<kernel::KernelStep>(found.plan.steps[0]).lowered.kernel;
  ASSERT_EQ(kernel.params[kernel::ParamId{3}].shares, kernel::ParamId{0});
  cpu::Jit jit({.target = cpu::Target::host(), .cache_folder = ""});
  const auto compiled = jit.compile(kernel, {});
  const cpu::Launch launch = cpu::prepare_launch(*compiled, {}, {.threads = 1});
  std::vector<float> memory = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> rows = {2, 2};
  const std::vector<float> values = {10, 20, 30, 40};
  std::vector<std::byte> scratch(static_cast<size_t>(launch.scratch_bytes) + 64);
  void* aligned = scratch.data();
  size_t room = scratch.size();
  std::align(64, static_cast<size_t>(launch.scratch_bytes), aligned, room);
  const void* params[] = {memory.data(), rows.data(), values.data(), memory.data()};
  cpu::run(launch, params, aligned);
  EXPECT_EQ(memory, (std::vector<float>{1, 2, 3, 4, 45, 66}));
}

TEST(Scatter, WritesNothingOutsideForRowsThatAreNotThere) {
  Graph graph;
  Tensor dest = graph.input("dest", {3, 5});
  Tensor index = graph.input("index", {5}, DType::I64);
  Tensor values = graph.input("values", {5, 5});
  Tensor y = prim::scatter(dest, index, values).output("y");
  Executable exe = compile(graph, {.storage = {.cache_folder = "none"}});
  exe.set(dest, std::vector<float>(15, 1));
  exe.set(values, std::vector<float>(25, 2));
  exe.set(index, std::vector<int64_t>{-1, 3, 1, INT64_MIN, INT64_MAX});
  EXPECT_THROW(exe.run(), UserError);
  std::vector<float> wanted(15, 1);
  std::fill_n(wanted.begin() + 5, 5, 2.0f);
  EXPECT_EQ(exe.get<float>(y), wanted);
}

TEST(Scatter, HasTheSameBitsWithAnyNumberOfThreads) {
  Graph graph;
  Tensor dest = graph.input("dest", {50, 4097});
  Tensor index = graph.input("index", {300}, DType::I64);
  Tensor values = graph.input("values", {300, 4097});
  Tensor y = prim::scatter(dest, index, values, Reducer::Sum).output("y");
  expect_same_bits(graph, y, 50);
}

}  // namespace
}  // namespace luminal
