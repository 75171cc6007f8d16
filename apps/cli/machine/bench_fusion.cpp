#include "apps/cli/machine/bench_fusion.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "apps/bench/harness/files.h"
#include "apps/bench/llm/model_fusion.h"
#include "apps/cli/machine/bench_progress.h"
#include "apps/cli/options/json_result.h"
#include "apps/cli/options/model_options.h"
#include "apps/cli/options/progress_options.h"

namespace luminal::cli {
namespace {

struct BenchFusionArguments {
  std::string model, output, profile;
  std::string dtype = "f32";
  std::vector<int64_t> prefill = {128, 512}, decode = {16, 64};
  int runs = 9;
  bool json = false;
  ProgressArguments progress;
  CompileOptions compile;
};

void run(const BenchFusionArguments& options) {
  bench::ModelFusionOptions fusion;
  fusion.model = options.model;
  fusion.runs = options.runs;
  fusion.session.dtype = dtype_of(options.dtype);
  fusion.session.compile = options.compile;
  fusion.session.compile.storage.fusion_profile = options.profile;
  for (int64_t prefill : options.prefill) {
    for (int64_t decode : options.decode) fusion.settings.push_back({prefill, decode});
  }
  ProgressLine line(progress_mode(options.progress.verbose, options.progress.quiet));
  const bench::ModelFusion result = bench::run_model_fusion(fusion, shown_on(line));
  line.clear();
  const std::string json = bench::model_fusion_json(result);
  bench::write_file(options.output, json);
  if (options.json) {
    std::cout << json;
    return;
  }
  std::cout << bench::model_fusion_table(result) << "written: " << options.output << "\n";
}

}  // namespace

void define_bench_fusion(CLI::App& app) {
  auto options = std::make_shared<BenchFusionArguments>();
  app.add_option("--model", options->model, "GGUF file, or folder in Hugging Face's layout")
      ->type_name("PATH")
      ->required();
  app.add_option("--runs", options->runs,
                 "Timed runs, in turns, after one warm-up run; intervals need six")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("-o,--output", options->output, "Write the results as JSON to FILE")
      ->type_name("FILE")
      ->required();
  app.add_option("--prefill", options->prefill, "Prompt lengths in tokens, comma-separated")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--decode", options->decode, "Answer lengths in tokens, comma-separated")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--fusion-profile", options->profile,
                 "Measurements of `luminal tune fusion` (default: measure while compiling)")
      ->type_name("FILE");
  add_json(app, options->json);
  options->progress.add_to(app);
  add_dtype(app, options->dtype);
  add_threads_and_cache(app, options->compile);
  app.footer(
      R"(Runs the whole model under the fusion policies never, always and measured,
greedily, for each prefill × decode; see docs/fusion.md
Examples:
  luminal bench fusion --model model.gguf --output fusion.json
  luminal bench fusion --model model.gguf --runs 20 --prefill 128,1024 --decode 16 --output fusion.json)");
  app.callback([options] { run(*options); });
}

}  // namespace luminal::cli
