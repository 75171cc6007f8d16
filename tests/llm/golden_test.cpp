// Real models reproduce their golden ids, one by one, from safetensors and from GGUF.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "luminal/base/os_paths.h"
#include "luminal/io/load_weights.h"
#include "luminal/io/model_folder.h"
#include "luminal/llm/llama_files.h"
#include "tests/llm/greedy.h"

namespace luminal::llm {
namespace {

using Ids = std::vector<int32_t>;

std::filesystem::path folder_of(const char* model) {
  const std::filesystem::path models =
      base::environment("LUMINAL_TEST_MODELS").value_or(LUMINAL_MODELS);
  return models / model;
}

// Prefill and decode are two plans of one executable. One thread: steps this small spend their time
// waiting for others where the machine is busy.
Executable compile_llama(const Graph& graph) {
  return compile(graph, {.threads = 1, .variants = {{"s", {1}}}});
}

// Ids must match up to the first step whose margin is under `least_margin`; there another rounding
// may choose otherwise.
void check_golden(Greedy& greedy, const std::filesystem::path& folder, double least_margin,
                  size_t most_cases) {
  const auto golden = nlohmann::json::parse(std::ifstream(folder / "golden_greedy.json"));
  size_t steps = 0;
  for (size_t i = 0; i < std::min(most_cases, golden["cases"].size()); ++i) {
    const auto& one = golden["cases"][i];
    const auto expected = one["new_ids"].get<Ids>();
    const auto margins = one["top1_minus_top2_margin"].get<std::vector<double>>();
    std::vector<float> logits = greedy.start(one["prompt_ids"].get<Ids>());
    for (const auto& [id, logit] :
         one["first_step_top5"].get<std::vector<std::pair<int, double>>>()) {
      EXPECT_NEAR(logits[static_cast<size_t>(id)], logit, 2e-3) << "case " << i << " id " << id;
    }
    for (size_t step = 0; step < expected.size() && margins[step] >= least_margin; ++step) {
      const int32_t id = Greedy::best(logits);
      ASSERT_EQ(id, expected[step]) << "case " << i << " step " << step;
      ++steps;
      if (step + 1 < expected.size()) logits = greedy.feed({id});
    }
  }
  EXPECT_GT(steps, 20u);
}

TEST(Golden, StoriesFromSafetensors) {
  const std::filesystem::path folder = folder_of("stories260k");
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "SKIPPED: there is no " << folder << "; set LUMINAL_TEST_MODELS";
  }
  const ModelFolder files = ModelFolder::open(folder.string());
  Graph graph;
  const DecoderGraph model = build_llama(nn::Scope(graph), llama_config(files.config));
  const LoadReport report = load_weights(graph, files.tensors);
  EXPECT_TRUE(report.unexpected.empty());
  Greedy greedy(model, compile_llama(graph));
  check_golden(greedy, folder, 0.002, std::numeric_limits<size_t>::max());
}

// From the planes of its quantised weights.
void check_smollm2(size_t most_cases) {
  const std::filesystem::path folder = folder_of("smollm2-135m-instruct");
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "SKIPPED: there is no " << folder << "; set LUMINAL_TEST_MODELS";
  }
  const Gguf file = Gguf::open((folder / "SmolLM2-135M-Instruct.Q4_1.gguf").string());
  const LoadOptions names{.rename = llama_gguf_name};
  Graph graph;
  const nn::Scope scope = nn::Scope(graph).with_formats(weight_formats(file, names));
  const DecoderGraph model = build_llama(scope, llama_config(file), {.room = 512});
  const LoadReport report = load_weights(graph, file, names);
  EXPECT_TRUE(report.unexpected.empty());
  EXPECT_TRUE(report.cast.empty());
  Greedy greedy(model, compile_llama(graph));
  check_golden(greedy, folder, 0.04, most_cases);
}

TEST(Golden, SmolLm2FromGguf) { check_smollm2(1); }
TEST(Golden, EveryCaseOfSmolLm2FromGguf) { check_smollm2(std::numeric_limits<size_t>::max()); }

}  // namespace
}  // namespace luminal::llm
