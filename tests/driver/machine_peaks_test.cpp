// The machine that a plan is made for: two pretended ones get the plans that suit them, and reports
// quote their peaks.
#include "luminal/driver/options/machine_peaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "luminal/base/os/paths.h"
#include "luminal/driver/explain/explanation.h"
#include "luminal/luminal.h"

namespace luminal {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A file of peaks: `memory` and `arithmetic` times those assumed for AVX-512.
class Machine {
 public:
  Machine(const std::string& name, double memory, double arithmetic)
      : file_(folder_.path() / (name + ".json")) {
    machine::Peaks peaks = machine::default_peaks("avx512", 2);
    for (machine::Bandwidth& bandwidth : peaks.memory) {
      bandwidth.read *= memory;
      bandwidth.copy *= memory;
    }
    peaks.l2_bytes *= memory;
    peaks.l3_bytes *= memory;
    peaks.elementwise *= arithmetic;
    peaks.f32_products *= arithmetic;
    peaks.bf16_products *= arithmetic;
    peaks.i8_products *= arithmetic;
    std::ofstream(file_) << to_json(peaks);
  }

  CompileReport report_of(const Graph& graph) const {
    CompileReport report;
    CompileOptions options;
    options.storage.machine = file_;
    options.storage.cache_folder = "none";
    options.report = &report;
    compile(graph, options);
    return report;
  }

 private:
  base::TemporaryFolder folder_;
  std::filesystem::path file_;
};

// Each value of an expensive chain is used three times: compute it again, or store it?
Graph& stencil() {
  static Graph graph;
  if (graph.size() != 0) return graph;
  constexpr int64_t n = 1 << 20;
  Tensor x = graph.input("x", {n + 2});
  for (int i = 0; i < 3; ++i) x = sin(x);
  (x.slice(0, 0, n) + x.slice(0, 1, n + 1) + x.slice(0, 2, n + 2)).output("y");
  return graph;
}

TEST(MachinePeaks, APlanStoresWhereArithmeticIsSlowAndComputesAgainWhereMemoryIs) {
  const CompileReport slow_arithmetic = Machine("slow-arithmetic", 10, 0.1).report_of(stencil());
  const CompileReport slow_memory = Machine("slow-memory", 0.01, 10).report_of(stencil());
  EXPECT_EQ(slow_arithmetic.kernels.size(), 2u);
  EXPECT_EQ(slow_memory.kernels.size(), 1u);
}

TEST(MachinePeaks, ReportsAndExplanationsQuoteThem) {
  const CompileReport report = Machine("twice-the-memory", 2, 1).report_of(stencil());
  EXPECT_THAT(report.machine, AllOf(HasSubstr("given by twice-the-memory.json"),
                                    HasSubstr("reads 52.0 and copies 46.8 GB/s")));
  EXPECT_THAT(luminal::text(explain(report, "stencil")),
              HasSubstr("given by twice-the-memory.json"));
}

TEST(MachinePeaks, NothingMeasuredIsSaid) {
  EXPECT_THAT(machine_text(machine_peaks({.cache_folder = "none"}, "")),
              AllOf(HasSubstr("default figures for "), HasSubstr("`luminal doctor --measure`")));
}

TEST(MachinePeaks, ATargetWithLessHasLess) {
  const StorageOptions storage{.cache_folder = "none"};
  const double best = machine_peaks(storage, "").f32_products;
  EXPECT_LT(machine_peaks(storage, "sse2").f32_products, best);
}

}  // namespace
}  // namespace luminal
