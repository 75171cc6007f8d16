#include "apps/cli/machine/tune_search.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/files/files.h"
#include "apps/cli/files/leaf_data.h"
#include "apps/cli/options/closest_word.h"
#include "apps/cli/options/compile_options.h"
#include "apps/cli/options/json_result.h"
#include "apps/cli/options/model_options.h"
#include "apps/cli/terminal/search_progress.h"
#include "luminal/base/errors.h"
#include "luminal/llm/embedder.h"
#include "luminal/llm/session.h"
#include "luminal/records/store.h"

namespace luminal::cli {
namespace {

struct TuneSearchArguments {
  std::string path;
  std::vector<std::string> commands;  // the subcommands' names
  CompileArguments compile;
  LeafArguments leaves;
  std::string dtype = "f32";
  bool json = false;
  bool quiet = false;
};

constexpr const char* kTunedGraphs = "Graphs";

void check_path(const TuneSearchArguments& options) {
  std::error_code error;
  if (options.path == "-" || std::filesystem::exists(options.path, error)) return;
  throw UserError(fmt::format("there is no file or folder '{}'{}", options.path,
                              did_you_mean(options.path, options.commands)));
}

// Whoever tunes wants a record.
void check_is_recorded(const CompileOptions& options) {
  if (options.storage.records == "none") {
    throw UserError("with --records none there is nothing to keep a plan in; name a file");
  }
  if (options.backend.name != "cpu") {
    throw UserError(
        fmt::format("backend '{}' runs graphs as they are: there are no plans to "
                    "search; leave --backend out",
                    options.backend.name));
  }
  if (options.backend.library != LibraryPolicy::Never) {
    throw UserError(
        "plans with kernels of a library aren't recorded: leave --library out, or search in each "
        "compile, with `luminal compile --search measured`");
  }
}

// Compiles what later commands compile: the same graph, with the same variants and typical sizes.
void tune_model(const TuneSearchArguments& options, const CompileOptions& compile_options) {
  const DType dtype = dtype_of(options.dtype);
  std::optional<llm::Model> writer;
  try {
    writer = llm::Model::open(options.path);
  } catch (const UserError&) {
    // What writes no text may give embeddings.
    std::optional<llm::EmbeddingModel> encoder;
    try {
      encoder = llm::EmbeddingModel::open(options.path);
    } catch (const UserError&) {
    }
    if (!encoder) throw;
    llm::Embedder(*encoder, {.dtype = dtype, .compile = compile_options});
    return;
  }
  llm::Session(*writer, {.dtype = dtype, .compile = compile_options});
}

void tune_path(const TuneSearchArguments& options, CompileOptions compile_options) {
  if (options.path != "-" && llm::looks_like_model(options.path)) {
    return tune_model(options, compile_options);
  }
  const std::unique_ptr<Graph> graph = read_graph(options.path);
  compile_options.plan.typical_sizes = options.leaves.sizes(*graph);
  compile(*graph, compile_options);
}

std::string microseconds(double us) {
  return us < 1e4 ? fmt::format("{:.1f} µs", us) : fmt::format("{:.2f} ms", us / 1e3);
}

// "s = 1: 190.1 µs, 1.12 times as fast as the cost model's plan (213.4 µs), 88 % of the roofline"
std::string result_text(const SearchReport& search, const std::string& variant) {
  std::string line = fmt::format(
      "{}{}, {:.2f} times as fast as the cost model's plan ({}), {:.0f} % of the roofline\n",
      variant.empty() ? "" : variant + ": ", microseconds(search.best_us),
      search.first_us / search.best_us, microseconds(search.first_us),
      100 * search.bound_us / search.best_us);
  if (search.mode == "remembered") {
    return line + fmt::format("  known from a search of {:.3g} s; a larger --budget continues it\n",
                              search.budget);
  }
  for (const std::string& comparison : search.comparisons) {
    line += fmt::format("  {}\n", comparison);
  }
  return line + fmt::format("  {} plans in {:.1f} s, {} kernels timed, {} known from records: {}\n",
                            search.candidates, search.seconds, search.timed, search.remembered,
                            search.stopped);
}

void print_search_json(const TuneSearchArguments& options, const CompileReport& report,
                       const std::string& records) {
  nlohmann::ordered_json searches = nlohmann::ordered_json::parse(report.json()).at("searches");
  for (size_t i = 0; i < report.searches.size(); ++i) {
    searches[i]["variant"] = report.plans[i].variant;
  }
  print_json_result({{"path", options.path}, {"records", records}, {"searches", searches}});
}

void tune(const TuneSearchArguments& options) {
  check_path(options);
  CompileArguments arguments = options.compile;
  arguments.search.mode = "measured";
  CompileOptions compile_options = arguments.parsed();
  check_is_recorded(compile_options);
  CompileReport report;
  compile_options.report = &report;
  {
    // Off a terminal too: a search takes long.
    SearchProgress progress(progress_mode(true, options.quiet));
    compile_options.progress = [&](const CompileProgress& now) { progress.show(now); };
    tune_path(options, compile_options);
  }
  const std::string records = compile_options.storage.records.empty()
                                  ? records::Store::default_file().string()
                                  : compile_options.storage.records;
  if (options.json) {
    print_search_json(options, report, records);
  } else if (!options.quiet) {
    for (size_t i = 0; i < report.searches.size(); ++i) {
      std::cout << result_text(report.searches[i], report.plans[i].variant);
    }
  }
  const bool all_recorded =
      !report.searches.empty() &&
      std::ranges::all_of(report.searches, [](const SearchReport& of) { return of.recorded; });
  if (!all_recorded) {
    for (const std::string& note : report.notes) std::cerr << "note: " << note << "\n";
    throw UserError(fmt::format("what was found is not recorded{}",
                                report.notes.empty()
                                    ? ": this graph has custom ops, whose code can't be compared"
                                    : "; the notes above say why"));
  }
  if (!options.json && !options.quiet) {
    std::cout << fmt::format("recorded in {}: compiles with the same options use it\n", records);
  }
}

// A subcommand has options of its own: any given before it would be lost.
void check_words(const CLI::App& app, const TuneSearchArguments& options) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  if (named.empty()) {
    if (!options.path.empty()) return;
    throw CLI::RequiredError("a graph, a model or a command");
  }
  const std::string command = named.front()->get_name();
  if (!options.path.empty()) {
    throw CLI::ValidationError("tune", "'" + options.path + "' before the command '" + command +
                                           "': give one or the other");
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0 || option->get_positional()) continue;
    throw CLI::ValidationError(option->get_name(), "write it after the command '" + command + "'");
  }
}

}  // namespace

void define_tune_search(CLI::App& app) {
  auto options = std::make_shared<TuneSearchArguments>();
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    options->commands.push_back(command->get_name());
  }
  app.add_option("path", options->path,
                 "Graph: text, - for standard input, or .pt2 file of PyTorch; or language or "
                 "embedding model: a "
                 "GGUF file, or a folder in Hugging Face's layout");
  app.add_flag("-q,--quiet", options->quiet, "Print errors only");
  add_json(app, options->json);
  app.add_option("--bind", options->leaves.bindings,
                 "Value of a variable, as for `luminal run` (default: a typical one, or a bound)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group(kTunedGraphs);
  add_dtype(app, options->dtype)->group(ModelArguments::kGroup);
  options->compile.add_code_to(app);
  app.get_option("--variants")->group(kTunedGraphs);
  options->compile.search.add_measured_to(app);
  app.parse_complete_callback([options, &app] { check_words(app, *options); });
  app.callback([options, &app] {
    if (app.get_subcommands().empty()) tune(*options);
  });
}

}  // namespace luminal::cli
