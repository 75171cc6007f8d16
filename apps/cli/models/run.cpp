// luminal run: runs a graph on random or given data, optionally traced and checked; or continues a
// prompt with a language model. The path decides which.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/chat/chat.h"
#include "apps/cli/files/files.h"
#include "apps/cli/files/leaf_data.h"
#include "apps/cli/models/run_model.h"
#include "apps/cli/options/command.h"
#include "apps/cli/options/compile_options.h"
#include "apps/cli/options/json_result.h"
#include "apps/cli/options/numbers.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/terminal.h"
#include "luminal/graph/graph.h"
#include "luminal/graph/tensor.h"
#include "luminal/llm/model.h"

namespace luminal::cli {
namespace {

struct RunArguments {
  std::string file;
  CompileArguments compile;
  LeafArguments leaves;
  int runs = 1;
  std::optional<uint64_t> seed;
  std::string trace;
  bool sequential = false;
  bool debug = false;
  bool print = false;
  RunModelOptions model;
};

constexpr const char* kGraphs = "Graphs";

void run(const RunArguments& options) {
  const std::unique_ptr<Graph> graph = read_graph(options.file);
  const Bindings bindings = options.leaves.sizes(*graph);
  CompileOptions compile_options = options.compile.parsed();
  compile_options.plan.typical_sizes = bindings;
  CompileReport report;
  if (options.compile.explain_fusion) compile_options.report = &report;
  Executable executable = compile(*graph, compile_options);
  if (options.compile.explain_fusion) std::cout << explain_fusion_text(report);
  for (auto& [leaf, data] : options.leaves.data(*graph, bindings, options.seed.value_or(1))) {
    executable.set(graph->tensor(leaf), data);
  }

  Trace trace;
  RunOptions run_options{.debug = options.debug, .check_kernels = options.sequential};
  if (!options.trace.empty()) run_options.trace = &trace;
  std::vector<double> ms;
  for (int i = 0; i < options.runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    executable.run(bindings, run_options);
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    ms.push_back(taken.count());
  }
  if (options.print) {
    for (const Output& output : graph->outputs()) {
      std::cout << graph->describe(output.node) << " = "
                << executable.print(graph->tensor(output.node)) << "\n";
    }
  }
  std::sort(ms.begin(), ms.end());
  if (options.model.json) {
    print_json_result({{"file", options.file},
                       {"runs", options.runs},
                       {"median_ms", ms[ms.size() / 2]},
                       {"ms", ms},
                       {"checked", options.sequential}});
    if (!options.trace.empty()) std::cerr << write_trace(options.trace, trace);
    return;
  }
  std::cout << fmt::format("{}: {} {}, median {:.3f} ms{}\n", options.file, options.runs,
                           options.runs == 1 ? "run" : "runs", ms[ms.size() / 2],
                           options.sequential ? ", every kernel is correct" : "");
  if (!options.trace.empty()) std::cout << write_trace(options.trace, trace);
}

void check_group(const CLI::App& app, const std::string& group, const std::string& message) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && option->get_group() == group) {
      throw CLI::ValidationError(option->get_name(), message);
    }
  }
}

void run_path(const CLI::App& app, RunArguments& options) {
  RunModelOptions& model = options.model;
  model.has_prompt = app.get_option("--prompt")->count() > 0;
  const bool has_text = model.has_prompt || !model.prompt_file.empty();
  if (!has_text && !llm::looks_like_model(options.file)) {
    check_group(
        app, ModelArguments::kGroup,
        "'" + options.file + "' is not a language model; this option is for language models");
    return run(options);
  }
  check_group(app, kGraphs,
              "'" + options.file + "' is a language model; this option is for graphs");
  model.model.path = options.file;
  model.model.seed = options.seed;
  model.trace = options.trace;
  model.model.compile = options.compile.parsed();
  CompileReport report;
  if (options.compile.explain_fusion) model.model.compile.report = &report;
  if (!has_text && base::input_is_terminal() && !model.json) return chat(model.model);
  run_model(model);
  // To standard error: standard output is for the answer.
  if (options.compile.explain_fusion) std::cerr << explain_fusion_text(report);
}

}  // namespace

void define_run(CLI::App& app) {
  auto options = std::make_shared<RunArguments>();
  app.add_option("path", options->file,
                 "Graph: text, - for standard input, or .pt2 file of PyTorch; or language model: a "
                 "GGUF file, or "
                 "a folder in Hugging Face's layout")
      ->required();
  app.add_option(
         "--seed", options->seed,
         "Seed of random data (default: 1), or of sampling (default: random, printed by --stats)")
      ->check(whole_number());
  app.add_option("--trace", options->trace,
                 "Write the steps of all runs to FILE, for Chrome or Perfetto: bytes, flops, GB/s, "
                 "GF/s and the share of the roofline per kernel")
      ->type_name("FILE");

  add_json(app, options->model.json);

  const auto add = [&app](const char* name, auto& value, const char* text) {
    return app.add_option(name, value, text)->group(kGraphs);
  };
  const auto add_flag = [&app](const char* name, bool& value, const char* text) {
    app.add_flag(name, value, text)->group(kGraphs);
  };
  options->leaves.add_to(app, kGraphs);
  add("--runs", options->runs, "Number of runs")->check(positive())->capture_default_str();
  add_flag("--print", options->print, "Print the outputs");
  add_flag("--debug", options->debug, "Print each step with shape and time");
  add_flag("--sequential", options->sequential,
           "Check every kernel right after it runs, and name the first wrong one");

  app.add_option(
         "-p,--prompt", options->model.prompt,
         "Prompt, followed by piped input; without it, piped input alone, or a chat on a terminal")
      ->type_name("TEXT")
      ->group(ModelArguments::kGroup);
  app.add_option("-f,--file", options->model.prompt_file,
                 "File with the prompt; - for standard input")
      ->type_name("FILE")
      ->group(ModelArguments::kGroup)
      ->excludes("--prompt");
  app.add_flag("--raw", options->model.raw, "Continue the prompt without the chat template")
      ->group(ModelArguments::kGroup);
  options->model.model.add_to(app);
  options->compile.add_to(app);
  options->compile.add_explain_fusion_to(app);
  app.get_option("--variants")->group(kGraphs);
  app.callback([options, &app] { run_path(app, *options); });
}

}  // namespace luminal::cli
