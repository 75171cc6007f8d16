#include "luminal/driver/report/kernel_titles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/driver/plan/planning.h"
#include "luminal/graph/traverse.h"
#include "luminal/llm/models/llama/llama.h"

namespace luminal {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;

CompileReport planned(const Graph& graph, const Bindings& sizes) {
  CompileReport report;
  plan_graph(graph, roots(graph), {.plan = {.typical_sizes = sizes}, .report = &report}, report);
  return report;
}

CompileReport planned_llama(const Bindings& sizes) {
  Graph graph;
  llm::build_llama(nn::Scope(graph), {.vocab_size = 512,
                                      .features = 256,
                                      .hidden = 768,
                                      .layers = 4,
                                      .heads = 8,
                                      .kv_heads = 4,
                                      .head_size = 32,
                                      .context = 512});
  return planned(graph, sizes);
}

TEST(KernelTitles, SayWhatAKernelIsInTheModel) {
  const CompileReport report = planned_llama({{"s", 1}, {"past", 64}});
  std::vector<std::string> titles;
  for (const KernelReport& kernel : report.kernels) titles.push_back(kernel.title);
  EXPECT_THAT(
      titles,
      IsSupersetOf({"layers.1.mlp: norm → gate_proj · up_proj → silu · mul",
                    "layers.2.mlp: down_proj → add", "layers.0.self_attn: rope → k_cache",
                    "layers.1.self_attn: norm → q_proj · k_cache · v_cache → rope · attention"}));
  EXPECT_THAT(titles, Contains("norm → lm_head → logits"));
}

// A scatter into the cache writes rows of it where they lie.
TEST(KernelTitles, UpdatesOfACacheCostWhatTheyTouch) {
  const CompileReport report = planned_llama({{"s", 1}, {"past", 64}});
  int updates = 0;
  for (const KernelReport& kernel : report.kernels) {
    if (!kernel.title.ends_with("_cache")) continue;
    ++updates;
    EXPECT_LT(kernel.model_us, kernel.launch_us + 1.5) << kernel.title;
    EXPECT_LT(kernel.model_bytes, 4096) << kernel.title;
  }
  EXPECT_EQ(updates, 8);
}

// The model's time of a kernel is never below its roofline.
TEST(KernelTitles, NoKernelIsFasterThanItsRoofline) {
  for (int64_t s : {1, 64}) {
    for (const KernelReport& kernel : planned_llama({{"s", s}, {"past", 64}}).kernels) {
      EXPECT_GE(kernel.model_us * 1.001, std::max(kernel.bytes_us, kernel.flops_us))
          << kernel.title << " at s = " << s;
    }
  }
}

TEST(KernelTitles, OfAlikeKernelsNumbersBecomeStars) {
  EXPECT_EQ(common_title({"layers.0.mlp: a", "layers.11.mlp: a"}), "layers.*.mlp: a");
  EXPECT_EQ(common_title({"layers.0.mlp: a", "layers.0.mlp: a"}), "layers.0.mlp: a");
  EXPECT_EQ(common_title({"layers.0.mlp: a", "layers.0.mlp: b"}), "layers.0.mlp: a");
  EXPECT_EQ(common_title({}), "");
}

}  // namespace
}  // namespace luminal
