// luminal compile: a graph through the compiler, with a look at every stage.
#include "luminal/driver/compile.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/files.h"
#include "luminal/base/errors.h"

namespace luminal::cli {
namespace {

struct Options {
  std::string file;
  CompileOptions compile;
  std::string fusion = "modelled";
  bool report = false;
  std::string print_after;
  std::string stop_after;
  std::string dump_folder;
};

FusionPolicy fusion_of(const std::string& name) {
  if (name == "always") return FusionPolicy::Always;
  return name == "never" ? FusionPolicy::Never : FusionPolicy::Modelled;
}

// One .txt, .ll and .s per kernel of the plan.
void dump_kernels(const CompileReport& report, const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (size_t i = 0; i < report.kernels.size(); ++i) {
    const KernelReport& kernel = report.kernels[i];
    const std::string base = (std::filesystem::path(folder) / fmt::format("kernel_{}", i)).string();
    write_text(base + ".txt", kernel.text);
    if (kernel.low_level) write_text(base + ".ll", kernel.low_level());
    if (kernel.assembly) write_text(base + ".s", kernel.assembly());
  }
  std::cout << fmt::format("{} kernels written to {}\n", report.kernels.size(), folder);
}

void run(const Options& options) {
  const std::unique_ptr<Graph> graph = read_graph(options.file);
  CompileReport report;
  report.print_after = options.print_after;
  report.stop_after = options.stop_after;
  CompileOptions compile_options = options.compile;
  compile_options.report = &report;
  compile_options.fusion = fusion_of(options.fusion);
  try {
    compile(*graph, compile_options);
  } catch (const CompileStopped& stopped) {
    std::cout << "stopped after " << stopped.stage << "\n";
  }
  if (options.report) std::cout << report.text();
  if (!options.dump_folder.empty()) dump_kernels(report, options.dump_folder);
  if (!options.report && options.stop_after.empty()) {
    std::cout << fmt::format("{}: compiled, {} kernels\n", options.file, report.kernels.size());
  }
}

}  // namespace

void define_compile(CLI::App& app) {
  auto options = std::make_shared<Options>();
  const std::vector<std::string> stages = {"graph", "terms", "saturated", "plan", "kernels"};
  std::vector<std::string> printable = stages;
  printable.push_back("all");
  app.add_option("file", options->file, "A graph in its text form; - reads standard input")
      ->required();
  app.add_flag("--report", options->report,
               "Kernels with their source ops and rules, growth by rule, time by stage");
  app.add_option("--print-after", options->print_after, "Print what a stage made, or all of them")
      ->check(CLI::IsMember(printable));
  app.add_option("--stop-after", options->stop_after, "The last stage to run")
      ->check(CLI::IsMember(stages));
  app.add_option("--dump-kernels", options->dump_folder,
                 "A folder for each kernel's text, LLVM IR and assembly");
  app.add_option("--backend", options->compile.backend, "cpu or interp")->capture_default_str();
  app.add_option(
      "--target", options->compile.target,
      "The instruction set of cpu kernels: avx512, avx2 or sse2; this machine's best if not "
      "said");
  app.add_option("--fusion", options->fusion, "Where the model says it pays, always or never")
      ->check(CLI::IsMember({"modelled", "always", "never"}))
      ->capture_default_str();
  app.add_option("--threads", options->compile.threads, "0: as many as this process may use")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--cache", options->compile.cache_folder,
                 "Where compiled kernels are kept: a folder, or 'none'");
  app.callback([options] { run(*options); });
}

}  // namespace luminal::cli
