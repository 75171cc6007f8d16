// luminal compile: compiles a graph, with options to inspect every stage.
#include "luminal/driver/compile.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/cli/files/files.h"
#include "apps/cli/options/command.h"
#include "apps/cli/options/compile_options.h"
#include "apps/cli/terminal/progress_line.h"
#include "luminal/base/errors.h"

namespace luminal::cli {
namespace {

struct CompileCommand {
  std::string file;
  CompileArguments compile;
  bool report = false;
  std::string report_json;
  bool json = false;
  bool progress = false;
  bool quiet = false;
  InspectOptions inspect;
  std::string dump_folder;
};

// One .txt, .ll and .s per kernel of the plan.
void dump_kernels(const CompileReport& report, const std::string& folder, bool quiet) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UserError("can't create the folder '" + folder + "': " + error.message());
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    const KernelReport& kernel = report.kernels[i];
    const std::string base = (std::filesystem::path(folder) / fmt::format("kernel_{}", i)).string();
    write_text(base + ".txt", kernel.text);
    if (kernel.low_level) write_text(base + ".ll", kernel.low_level());
    if (kernel.assembly) write_text(base + ".s", kernel.assembly());
  }
  if (!quiet) std::cout << fmt::format("{} kernels written to {}\n", report.kernels.size(), folder);
}

void run(const CompileCommand& options) {
  const std::unique_ptr<Graph> graph = read_graph(options.file);
  CompileReport report;
  CompileOptions compile_options = options.compile.parsed();
  compile_options.inspect = options.inspect;
  compile_options.report = &report;
  ProgressLine line(progress_mode(options.progress, options.quiet));
  if (line.shows()) {
    compile_options.progress = [&line](const CompileProgress& now) { line.show(now); };
  }
  try {
    compile(*graph, compile_options);
    line.clear();
  } catch (const CompileStopped& stopped) {
    line.clear();
    if (!options.quiet) std::cout << "stopped after " << stopped.stage << "\n";
  }
  if (options.json) {
    std::cout << report.json();
    return;
  }
  if (options.report) std::cout << report.text();
  if (options.compile.explain_fusion) std::cout << explain_fusion_text(report);
  if (!options.report_json.empty()) write_text(options.report_json, report.json());
  if (!options.dump_folder.empty()) dump_kernels(report, options.dump_folder, options.quiet);
  if (!options.report && !options.quiet && options.inspect.stop_after.empty()) {
    std::cout << fmt::format("{}: compiled, {} kernels\n", options.file, report.kernels.size());
  }
}

}  // namespace

void define_compile(CLI::App& app) {
  auto options = std::make_shared<CompileCommand>();
  const std::vector<std::string> stages = {"graph",     "rolled", "terms",
                                           "saturated", "plan",   "kernels"};
  std::vector<std::string> printable = stages;
  printable.push_back("all");
  app.add_option("file", options->file,
                 "Graph: text, - for standard input, or .pt2 file of PyTorch")
      ->required();
  app.add_flag("-v,--verbose,--report", options->report,
               "Print kernels with their source ops and rules, what was not fused and why, growth "
               "by rule, time by stage");
  app.add_flag("--json", options->json, "Print the report as JSON, and nothing else");
  app.add_option("--report-json", options->report_json, "Write the report as JSON to a file");
  app.add_flag("--progress", options->progress,
               "Show progress even if standard error is no terminal");
  app.add_option("--print-after", options->inspect.print_after,
                 "Print the result of a stage, or of all of them")
      ->check(CLI::IsMember(printable));
  app.add_option("--stop-after", options->inspect.stop_after, "Last stage to run")
      ->check(CLI::IsMember(stages));
  app.add_option("--dump-kernels", options->dump_folder,
                 "Write each kernel's text, LLVM IR and assembly to a folder");
  options->compile.add_to(app);
  options->compile.add_explain_fusion_to(app);
  app.add_flag("-q,--quiet", options->quiet, "Print errors only")
      ->excludes("--report", "--json", "--progress", "--print-after", "--explain-fusion");
  app.callback([options] { run(*options); });
}

}  // namespace luminal::cli
