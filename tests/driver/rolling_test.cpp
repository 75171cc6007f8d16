// What rolling is for: a model of many layers is planned as one of few.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>

#include "luminal/backends/registry/registry.h"
#include "luminal/base/os/memory.h"
#include "luminal/base/os/paths.h"
#include "luminal/driver/plan/planning.h"
#include "luminal/graph/custom_op.h"
#include "luminal/graph/traverse.h"
#include "luminal/kernel/plan/verify_plan.h"
#include "luminal/llm/models/llama/llama.h"
#include "luminal/luminal.h"
#include "luminal/machine/peaks.h"

namespace luminal {
namespace {

struct PlannedModel {
  CompileReport report;
  std::set<std::string> kernels;  // distinct, by their text
  std::string text;
};

PlannedModel plan_model(const Graph& graph, const CompileOptions& options) {
  PlannedModel made;
  CompileOptions asked = options;
  asked.report = &made.report;
  const auto planned = plan_graph(graph, roots(graph), asked, made.report,
                                  backends::find_backend("cpu").packing({}));
  EXPECT_EQ(kernel::verify_plan(*planned, graph, roots(graph)), "");
  for (const KernelReport& kernel : made.report.kernels) made.kernels.insert(kernel.text);
  made.text = plan_text(*planned);
  return made;
}

llm::LlamaConfig llama(int64_t layers, int64_t features = 256) {
  return {.vocab_size = 512,
          .features = features,
          .hidden = features * 3,
          .layers = layers,
          .heads = features / 32,
          .kv_heads = features / 64,
          .head_size = 32,
          .context = 512};
}

PlannedModel plan_llama(const llm::LlamaConfig& config, const CompileOptions& options) {
  Graph graph;
  llm::build_llama(nn::Scope(graph, "", DType::BF16), config);
  return plan_model(graph, options);
}

const StageReport* stage(const CompileReport& report, std::string_view name) {
  const auto found = std::ranges::find(report.stages, name, &StageReport::name);
  return found == report.stages.end() ? nullptr : &*found;
}

TEST(Rolling, ThirtyLayersArePlannedAsFour) {
  // Caches as slow as memory: else four layers are modelled at the bandwidth of one that thirty
  // don't fit into.
  machine::Peaks peaks = machine::default_peaks("avx512", 2);
  peaks.l2_bytes = peaks.l3_bytes = peaks.read_bytes(2);
  const base::TemporaryFolder folder;
  const std::string machine = folder.path() / "slow-caches.json";
  std::ofstream(machine) << to_json(peaks);
  for (int64_t s : {1, 64}) {
    const CompileOptions options{.plan = {.typical_sizes = {{"s", s}, {"past", 64}}},
                                 .storage = {.machine = machine}};
    const PlannedModel few = plan_llama(llama(4), options);
    const PlannedModel many = plan_llama(llama(30), options);
    std::printf("egraph_nodes %lu %lu kernels %zu %zu lowered %d %d\n", few.report.egraph_nodes,
                many.report.egraph_nodes, few.kernels.size(), many.kernels.size(),
                few.report.search_kernels, many.report.search_kernels);
    EXPECT_LE(many.report.egraph_nodes * 10, few.report.egraph_nodes * 11);
    EXPECT_EQ(few.kernels, many.kernels);
    EXPECT_EQ(few.report.search_kernels, many.report.search_kernels);
    EXPECT_EQ(few.report.search_candidates, many.report.search_candidates);
    ASSERT_NE(stage(many.report, "rolled"), nullptr);
    // The last one goes on for the last token alone, so it is no trip.
    EXPECT_TRUE(stage(many.report, "rolled")->summary.starts_with("29 iterations of "))
        << stage(many.report, "rolled")->summary;
  }
}

// A plan that was cut at the layers may be a little dearer where the first one fused with what is
// before it, and no more.
TEST(Rolling, CostsLittle) {
  for (int64_t s : {1, 64}) {
    const CompileOptions rolled{.plan = {.typical_sizes = {{"s", s}, {"past", 64}}}};
    CompileOptions unrolled = rolled;
    unrolled.plan.rolling = Rolling::Off;
    const PlannedModel a = plan_llama(llama(6), rolled);
    const PlannedModel b = plan_llama(llama(6), unrolled);
    EXPECT_EQ(stage(b.report, "rolled"), nullptr);
    EXPECT_LE(a.report.model_us, b.report.model_us * 1.02) << "s = " << s;
  }
}

TEST(Rolling, GivesTheSamePlanAgain) {
  EXPECT_EQ(plan_llama(llama(5), {}).text, plan_llama(llama(5), {}).text);
}

TEST(Rolling, ShowsTheRolledGraphAndWhatIsStoredForIt) {
  Graph graph;
  llm::build_llama(nn::Scope(graph), llama(4, 64));
  std::ostringstream out;
  CompileReport report;
  plan_graph(graph, roots(graph),
             {.inspect = {.print_after = "rolled", .out = &out}, .report = &report}, report);
  EXPECT_NE(out.str().find("; after rolled\nluminal-graph"), std::string::npos);
  EXPECT_NE(out.str().find("input \"loop 1: "), std::string::npos);
  EXPECT_TRUE(std::ranges::any_of(report.stored, [](const StoredReport& value) {
    return value.because == "an iteration of a rolled loop passes it to the next";
  }));
}

// x -> by · x, on the host.
CustomOp scaling(float by) {
  return {.name = "scaling",
          .shape_rule = [](const std::vector<TensorType>& types) { return types[0]; },
          .compute =
              [by](const std::vector<TensorData>& inputs, TensorData::Writable& result) {
                const auto* x = reinterpret_cast<const float*>(inputs[0].bytes.data());
                auto* out = reinterpret_cast<float*>(result.bytes.data());
                for (int64_t i = 0; i < inputs[0].n_elements(); ++i) out[i] = by * x[i];
              }};
}

// A loop knows custom ops by their names; each trip still runs its own.
TEST(Rolling, CustomOpsRunInEveryTripAsTheirOwn) {
  Graph graph;
  Tensor x = graph.input("x", {2, 3});
  for (int t = 0; t < 4; ++t) {
    x = custom_op(scaling(static_cast<float>(t + 1)), {x + 1.0});
    x = x * graph.weight("w" + std::to_string(t), {2, 3}).set(std::vector<float>(6, 0.5f));
  }
  x.output("y");
  CompileReport report;
  Executable executable = compile(graph, {.plan = {.rolling = Rolling::Always},
                                          .storage = {.cache_folder = "none"},
                                          .report = &report});
  ASSERT_NE(stage(report, "rolled"), nullptr);
  EXPECT_NE(stage(report, "rolled")->summary.find(" iterations of 5 nodes"), std::string::npos);
  executable.set(*graph.find("x"), std::vector<float>{0, 1, 2, 3, 4, 5});
  executable.run();
  std::vector<float> wanted;
  for (float value : {0, 1, 2, 3, 4, 5}) {
    for (int t = 0; t < 4; ++t) value = static_cast<float>(t + 1) * (value + 1) * 0.5f;
    wanted.push_back(value);
  }
  EXPECT_EQ(executable.get<float>(x), wanted);
}

TEST(Rolling, LlamaOf8BillionSaturatesAsOneLayer) {
  Graph graph;
  llm::build_llama(nn::Scope(graph, "", DType::BF16), {.vocab_size = 128256,
                                                       .features = 4096,
                                                       .hidden = 14336,
                                                       .layers = 32,
                                                       .heads = 32,
                                                       .kv_heads = 8,
                                                       .head_size = 128,
                                                       .context = 8192});
  const PlannedModel made = plan_model(graph, {});
  const double saturated = stage(made.report, "saturated")->seconds;
  double planned = 0;
  for (const StageReport& each : made.report.stages) planned += each.seconds;
  std::printf("llama_8b_saturate_ms %.2f plan_ms %.1f egraph_nodes %lu resident_mb %.0f\n",
              saturated * 1e3, planned * 1e3, made.report.egraph_nodes,
              static_cast<double>(base::resident_bytes()) / 1e6);
  EXPECT_LT(made.report.egraph_nodes, 2000u);
  EXPECT_LT(saturated, 30);  // the claim has the real bound
}

}  // namespace
}  // namespace luminal
