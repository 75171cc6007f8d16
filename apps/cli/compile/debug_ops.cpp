// luminal debug-ops: checks every stage of a compile and a run and names causes of faults; answers
// questions about how ops were compiled.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "apps/cli/compile/debug_cases.h"
#include "apps/cli/compile/debug_questions.h"
#include "apps/cli/compile/debug_stages.h"
#include "apps/cli/files/files.h"
#include "apps/cli/options/command.h"
#include "apps/cli/options/compile_options.h"
#include "apps/cli/options/numbers.h"
#include "apps/inspect/debug/debug_compare.h"
#include "luminal/base/errors.h"
#include "luminal/driver/plan/planning.h"

namespace luminal::cli {
namespace {

constexpr const char* kDebugOpsExamples = R"(Examples:
  luminal debug-ops examples/feed_forward.lum
      every stage: the graph, its data, loops, terms, plan, code and a checked run
  luminal debug-ops softmax --bind s=7 --all
      a case by name, with whatever was seen in each stage
  luminal debug-ops fault-custom-kernel
      how a fault shows: one was planted in each case that begins with fault-
  luminal debug-ops model.gguf --dtype bf16 --json now.json
      a model with its weights, for single tokens and for prompts
  luminal debug-ops --compare before.json now.json
      the first stage and item in which two reports differ
  luminal debug-ops GRAPH --input ids=ids.npy --until data
      data of one's own, and whether its indices are rows that there are
  luminal debug-ops GRAPH --inspect-op Exp2:CpuKernel --inspect-var y
      what became of an op and of a tensor
  luminal debug-ops GRAPH --rules my.egg --why-not my-rule --at %12
      why a rule doesn't match
docs/debugging.md lists the causes)";

struct DebugOpsArguments {
  std::string subject;
  std::string named_case;
  CompileArguments compile;
  DebugQuestions questions;
  DebugStagesOptions stages;
  std::vector<std::string> compare;
  std::string json_file;
  bool json = false;
  bool all = false;
};

void check(const DebugOpsArguments& options) {
  if (!options.compare.empty()) return;
  if (options.subject.empty() == options.named_case.empty()) {
    throw CLI::ValidationError("debug-ops",
                               "give a graph's file or --case NAME, before --json without a file");
  }
  options.questions.check();
}

// A file takes precedence over a case of the same name.
const DebugCase* case_of(const DebugOpsArguments& options) {
  if (!options.named_case.empty()) return &find_debug_case(options.named_case);
  if (std::filesystem::exists(options.subject)) return nullptr;
  for (const DebugCase& known : debug_cases()) {
    if (known.name == options.subject) return &known;
  }
  return nullptr;
}

void show(const DebugOpsArguments& options, const std::string& json_text,
          const std::string& plain) {
  const bool to_file = options.json && !options.json_file.empty() && options.json_file != "-";
  if (to_file) write_text(options.json_file, json_text);
  std::cout << (options.json && !to_file ? json_text : plain);
}

void run_compare(const DebugOpsArguments& options) {
  const std::string &a = options.compare[0], &b = options.compare[1];
  const auto differences = debug::compare_reports(read_text(a), a, read_text(b), b);
  std::cout << debug::text(differences, a, b);
  if (!differences.empty()) {
    throw UserError("the reports differ from stage '" + differences.front().stage + "' on");
  }
}

void run_questions(const DebugOpsArguments& options, const DebugCase* named) {
  NamedGraph opened;
  if (named != nullptr) {
    opened = {named->name, std::make_unique<Graph>(), options.compile.parsed()};
    named->build(*opened.graph);
  } else {
    opened = open_graph(options.subject, options.stages.model, options.compile.parsed());
    opened.name = options.subject;
  }
  search::PlanningOptions asked = planning_options(*opened.graph, opened.options);
  if (named != nullptr) plant(*named, asked);
  search::Inspection inspection(*opened.graph, asked);
  const std::string text = answers(inspection, opened.name, options.questions, options.json);
  show(options, text, text);
}

void run_stages(const DebugOpsArguments& options, const DebugCase* named) {
  const debug::DebugReport report =
      debug_stages(options.subject, named, options.compile.parsed(), options.stages);
  show(options, debug::json(report), debug::text(report, options.all));
  const search::Finding* first = report.first_cause();
  if (first == nullptr) return;
  std::string where = first->at("op").empty() ? first->at("kernel") : first->at("op");
  if (where.empty()) where = first->at("rule");
  throw UserError(fmt::format("{}: {} in stage '{}'{}{}", report.name, first->at("cause"),
                              first->at("stage"), where.empty() ? "" : ", at ", where));
}

void run(DebugOpsArguments& options, const CLI::App& app) {
  options.json = app.get_option("--json")->count() > 0;
  check(options);
  if (!options.compare.empty()) return run_compare(options);
  const DebugCase* named = case_of(options);
  options.questions.any() ? run_questions(options, named) : run_stages(options, named);
}

std::string case_list() {
  std::string names;
  for (const DebugCase& known : debug_cases()) {
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  }
  return names;
}

}  // namespace

void define_debug_ops(CLI::App& app) {
  auto options = std::make_shared<DebugOpsArguments>();
  app.add_option("subject", options->subject,
                 "Graph: text, - for standard input, or .pt2 file of PyTorch; language model: a "
                 "GGUF file, or a "
                 "folder in Hugging Face's layout; or the name of a case");
  app.add_option("--case", options->named_case, "Named graph: " + case_list())->type_name("NAME");
  app.add_option("--json", options->json_file,
                 "Write JSON to a file, or to standard output; deterministic; docs/debugging.md "
                 "lists the fields")
      ->expected(0, 1)
      ->type_name("FILE");
  app.add_option("--compare", options->compare,
                 "Show the first stage and item where two reports differ")
      ->expected(2)
      ->type_name("A B");
  app.add_flag("--all", options->all, "Print everything observed in each stage");
  app.add_option("--until", options->stages.until, "Last stage to run")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(debug::kStages), std::end(debug::kStages))));
  app.add_option("--seed", options->stages.seed, "Seed of random data")
      ->check(whole_number())
      ->capture_default_str();
  app.add_option("--most-operations", options->stages.operations,
                 "Maximum scalar operations of the interpreter; larger kernels are checked at some "
                 "points, larger graphs not at all")
      ->capture_default_str();
  options->stages.leaves.add_to(app, "Data");
  options->stages.model.add_to(app);
  options->questions.add_to(app);
  options->compile.add_to(app);
  app.footer(kDebugOpsExamples);
  app.callback([options, &app] { run(*options, app); });
}

}  // namespace luminal::cli
