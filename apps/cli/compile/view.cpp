// luminal view: an HTML page about a compile, as a file or served to a browser on this machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include "apps/cli/compile/model_graph.h"
#include "apps/cli/files/files.h"
#include "apps/cli/files/random_inputs.h"
#include "apps/cli/options/command.h"
#include "apps/cli/options/compile_options.h"
#include "apps/cli/options/numbers.h"
#include "apps/cli/terminal/progress_line.h"
#include "apps/inspect/view/page.h"
#include "apps/inspect/view/view_data.h"
#include "luminal/base/os/loopback.h"
#include "luminal/driver/options/variants.h"
#include "luminal/graph/verify.h"
#include "luminal/search/cost/cost_model.h"

namespace luminal::cli {
namespace {

constexpr const char* kViewExamples = R"(Examples:
  luminal view examples/feed_forward.lum --output page.html
  luminal view model.gguf --dtype bf16 --output page.html
  luminal view GRAPH --serve 8080        and open http://127.0.0.1:8080/
  page.html#kernel=3                     opens with that kernel selected
  page.html#search=layers.3              opens with the kernels of that layer)";

struct ViewArguments {
  std::string path;
  std::string output;
  std::optional<uint16_t> port;
  int runs = 5;
  uint64_t seed = 1;
  bool no_code = false;
  bool progress = false;
  CompileArguments compile;
  ModelShape model;
};

struct Runs {
  Trace trace;
  std::vector<size_t> plan_of_run;
  std::vector<std::string> sizes_of_run;
};

std::string text_of(const Bindings& bindings) {
  std::string text;
  for (const auto& [name, value] : bindings.items()) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

// Runs each plan several times, at the sizes it was made for; leaves without data get random data.
Runs run_plans(const NamedGraph& viewed, Executable& executable, const ViewArguments& options) {
  Runs runs;
  Graph& graph = *viewed.graph;
  const Variants variants(variables(graph), viewed.options.plan.variants);
  for (size_t v = 0; v < variants.count(); ++v) {
    const Bindings sizes = search::representative_sizes(
        variables(graph), variants.sizes(v, viewed.options.plan.typical_sizes));
    for (NodeId leaf : graph.leaves()) {
      const Role role = graph.node(leaf).as<InputAttr>().role;
      const bool is_set = graph.has_data(leaf) || (v > 0 && role == Role::Weight);
      if (role == Role::State || is_set) continue;
      executable.set(graph.tensor(leaf), random_data(graph, leaf, sizes, options.seed));
    }
    for (int i = 0; i < options.runs; ++i) {
      executable.run(sizes, {.trace = &runs.trace});
      runs.plan_of_run.push_back(v);
      runs.sizes_of_run.push_back(text_of(sizes));
    }
  }
  return runs;
}

std::string page_of(const ViewArguments& options) {
  ProgressLine line(progress_mode(options.progress));
  NamedGraph viewed = open_graph(options.path, options.model, options.compile.parsed());
  const bool shows = line.shows();
  CompileReport report;
  std::ostringstream unread;
  // Printing this stage forces planning anew, with a record of how it rolled.
  viewed.options.inspect = {.print_after = "rolled", .out = &unread, .find_rivals = true};
  viewed.options.report = &report;
  if (shows) viewed.options.progress = [&line](const CompileProgress& now) { line.show(now); };
  Executable executable = compile(*viewed.graph, viewed.options);
  const Runs runs = run_plans(viewed, executable, options);
  const view::Compiled compiled{viewed.name, *viewed.graph,    viewed.options,   report,
                                runs.trace,  runs.plan_of_run, runs.sizes_of_run};
  const auto tell = [&](const std::string& text) {
    if (shows && line.due()) line.show(text);
  };
  return view::make_page(view::view_data(compiled, {.wanted = !options.no_code}, tell));
}

void run(const ViewArguments& options) {
  if (options.output.empty() && !options.port) {
    throw CLI::ValidationError("view", "say where the page goes: --output FILE, or --serve PORT");
  }
  // Fails before the long part begins if the port is taken.
  std::optional<base::LoopbackServer> server;
  if (options.port) server.emplace(*options.port);
  const std::string page = page_of(options);
  if (!options.output.empty()) {
    write_text(options.output, page);
    std::cout << fmt::format("{}: {} KB written to {}\n", source_name(options.path),
                             page.size() >> 10, options.output);
  }
  if (!server) return;
  std::cout << server->address() << " until this is interrupted" << std::endl;
  server->serve(page);
}

}  // namespace

void define_view(CLI::App& app) {
  auto options = std::make_shared<ViewArguments>();
  app.add_option("path", options->path,
                 "Graph: text, - for standard input, or .pt2 file of PyTorch; or language model: a "
                 "GGUF file, or "
                 "a folder in Hugging Face's layout")
      ->required();
  app.add_option("-o,--output", options->output, "File to write: self-contained HTML");
  app.add_option("--serve", options->port,
                 "Serve the page on 127.0.0.1 at this port; 0: a free one")
      ->type_name("PORT");
  app.add_option("--runs", options->runs, "Traced runs per plan, on random data; 0: none")
      ->check(not_negative())
      ->capture_default_str();
  app.add_option("--seed", options->seed, "Seed of random data")
      ->check(whole_number())
      ->capture_default_str();
  app.add_flag("--no-code", options->no_code, "Omit LLVM IR and assembly");
  app.add_flag("--progress", options->progress,
               "Show progress even if standard error is no terminal");
  options->model.add_to(app);
  options->compile.add_to(app);
  app.footer(kViewExamples);
  app.callback([options] { run(*options); });
}

}  // namespace luminal::cli
