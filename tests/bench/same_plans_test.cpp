// The plans of twelve graphs, by digest, at given peaks: a change that moves code about leaves them
// as they are, and one that means to change plans says which. Usage: same_plans_test DIGESTS
// [--update]
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "apps/bench/kernels/case.h"
#include "apps/bench/search/search_graphs.h"
#include "luminal/base/digest.h"
#include "luminal/base/os/paths.h"
#include "luminal/luminal.h"
#include "luminal/machine/peaks.h"

namespace luminal::bench {
namespace {

std::filesystem::path digests_file;
bool updates = false;

constexpr const char* kPatterns[] = {"softmax", "gelu",      "layer_norm", "swiglu",
                                     "matmul",  "attention", "conv2d"};
constexpr const char* kModels[] = {"bert-base", "resnet-18", "smollm2-prefill", "smollm2",
                                   "llama-1b-decode"};

// "bert-base 63 kernels, 1f0c…" of the plan that compile() makes on a machine whose peaks are
// given.
std::string line_of(const std::string& name, const Graph& graph, const Bindings& sizes,
                    const std::filesystem::path& machine) {
  CompileReport report;
  CompileOptions options;
  options.backend.target = "avx2";  // every machine that tests run on has it
  options.storage.machine = machine;
  options.storage.cache_folder = "none";
  options.plan.typical_sizes = sizes;
  options.inspect.stop_after = "plan";
  options.report = &report;
  EXPECT_THROW(compile(graph, options), CompileStopped);
  std::string text;
  for (const KernelReport& kernel : report.kernels) {
    text += kernel.name + " " + kernel.result + " " + kernel.schedule + "\n" + kernel.text;
  }
  for (const StoredReport& stored : report.stored) text += stored.value + "\n";
  return fmt::format("{}: {} kernels, {}\n", name, report.kernels.size(),
                     base::digest(text).substr(0, 16));
}

std::string lines_of_all() {
  const base::TemporaryFolder folder;
  const std::filesystem::path machine = folder.path() / "machine.json";
  machine::Peaks peaks = machine::default_peaks("avx2", 2);
  peaks.l1 = 32 << 10;  // not this machine's
  peaks.l2 = 1 << 20;
  peaks.l3 = 32 << 20;
  std::ofstream(machine) << to_json(peaks);
  std::string lines;
  for (const char* op : kPatterns) {
    for (const Case& given : cases(Level::Patterns)) {
      if (given.op != op || given.size != Size::L3 || given.dtype != DType::F32) continue;
      Graph graph;
      given.build(graph);
      lines += line_of(given.name(), graph, {}, machine);
    }
  }
  for (const char* name : kModels) {
    const SearchGraph built = search_graph_of_shapes(name);
    lines += line_of(name, *built.graph, built.sizes, machine);
  }
  return lines;
}

TEST(SamePlans, OfTwelveGraphs) {
  const std::string found = lines_of_all();
  if (updates) {
    std::ofstream(digests_file) << found;
    return;
  }
  std::ostringstream expected;
  expected << std::ifstream(digests_file).rdbuf();
  EXPECT_EQ(found, expected.str())
      << "plans changed; if they were meant to, run this test with --update and say why";
}

}  // namespace
}  // namespace luminal::bench

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc < 2) return 2;
  luminal::bench::digests_file = argv[1];
  luminal::bench::updates = argc > 2 && std::string(argv[2]) == "--update";
  return RUN_ALL_TESTS();
}
