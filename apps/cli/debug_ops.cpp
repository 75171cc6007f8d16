// luminal debug-ops: what became of a graph's ops on the way to a plan, and what is in the way.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "apps/cli/command.h"
#include "apps/cli/compile_options.h"
#include "apps/cli/debug_cases.h"
#include "apps/cli/files.h"
#include "luminal/base/errors.h"
#include "luminal/base/json_text.h"
#include "luminal/driver/planning.h"
#include "luminal/search/inspect/answers.h"
#include "luminal/search/inspect/diagnose.h"

namespace luminal::cli {
namespace {

using search::Finding;
using search::Inspection;

struct Options {
  std::string file;
  std::string named_case;
  CompileArguments compile;
  std::vector<std::string> inspect_op;
  std::vector<std::string> inspect_var;
  std::vector<std::pair<std::string, std::string>> trace_fn;  // function, tensor
  bool trace_missing_dtype = false;
  std::vector<std::string> why_not;
  std::vector<std::string> at;
  bool analyze = false;
  bool json = false;
};

// An answer to one kind of question.
struct Section {
  std::string name;
  std::vector<Finding> findings;
  std::string if_none;
};

void check(const Options& options) {
  if (options.file.empty() == options.named_case.empty()) {
    throw CLI::ValidationError("debug-ops", "give a graph's file or --case NAME");
  }
  if (options.why_not.size() != options.at.size()) {
    throw CLI::ValidationError("--why-not", "each RULE needs an --at TENSOR");
  }
}

std::vector<Section> answer(Inspection& inspection, const Options& options) {
  std::vector<Section> sections;
  const auto add = [&](const char* name, std::vector<Finding> findings, const char* if_none) {
    sections.push_back({name, std::move(findings), if_none});
  };
  for (const std::string& question : options.inspect_op) {
    add("inspect_op", inspect_op(inspection, question), "the graph has no such op");
  }
  for (const std::string& tensor : options.inspect_var) {
    add("inspect_var", {inspect_tensor(inspection, inspection.find_tensor(tensor))}, "");
  }
  for (const auto& [function, tensor] : options.trace_fn) {
    const NodeId node = inspection.find_tensor(tensor);
    add("trace_fn", trace_function(inspection, function, node), "no row of it mentions the tensor");
  }
  if (options.trace_missing_dtype) {
    add("missing_dtype", missing_dtypes(inspection), "every value has a type");
  }
  for (size_t i = 0; i < options.why_not.size(); ++i) {
    const NodeId node = inspection.find_tensor(options.at[i]);
    add("why_not", {explain_why_not(inspection, options.why_not[i], node)}, "");
  }
  if (options.analyze) add("causes", diagnose(inspection), "nothing is wrong");
  return sections;
}

void print_json(const Inspection& inspection, const std::string& name,
                const std::vector<Section>& sections) {
  base::JsonText json;
  json.begin_object();
  json.field("graph", name);
  json.field("planned", inspection.plan() != nullptr);
  if (inspection.plan() != nullptr) json.field("kernels", inspection.plan()->plan.n_kernels());
  json.field("failed_stage", inspection.failed_stage());
  json.field("error", inspection.error());
  std::string open;
  for (const Section& section : sections) {
    if (section.name != open) {
      if (!open.empty()) json.end_array();
      json.key(section.name);
      json.begin_array();
      open = section.name;
    }
    for (const Finding& finding : section.findings) write(json, finding);
  }
  if (!open.empty()) json.end_array();
  json.end_object();
  std::cout << json.text() << "\n";
}

void print_text(const Inspection& inspection, const std::string& name,
                const std::vector<Section>& sections) {
  if (inspection.plan() != nullptr) {
    std::cout << fmt::format("{}: {} kernels\n", name, inspection.plan()->plan.n_kernels());
  } else {
    std::cout << fmt::format("{}: no plan, stopped at {}: {}\n", name, inspection.failed_stage(),
                             inspection.error());
  }
  for (const Section& section : sections) {
    if (section.findings.empty()) std::cout << section.if_none << "\n";
    for (const Finding& finding : section.findings) std::cout << text(finding);
  }
}

void run(const Options& options) {
  check(options);
  const CompileOptions compile = options.compile.parsed();
  std::unique_ptr<Graph> graph;
  const DebugCase* planted = nullptr;
  if (options.named_case.empty()) {
    graph = read_graph(options.file);
  } else {
    planted = &find_debug_case(options.named_case);
    graph = std::make_unique<Graph>();
    planted->build(*graph);
  }
  search::InspectOptions asked = planning_options(*graph, compile);
  if (planted != nullptr) plant(*planted, asked);
  Inspection inspection(*graph, asked);
  const std::vector<Section> sections = answer(inspection, options);
  const std::string& name = options.named_case.empty() ? options.file : options.named_case;
  options.json ? print_json(inspection, name, sections) : print_text(inspection, name, sections);
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
  auto options = std::make_shared<Options>();
  app.add_option("file", options->file, "A graph in its text form; - reads standard input");
  app.add_option("--case", options->named_case, "A graph by name instead: " + case_list())
      ->type_name("NAME");
  options->compile.add_planning_to(app);

  const char* questions = "Questions";
  app.add_option("--inspect-op", options->inspect_op,
                 "Add, or Add:CpuKernel: what became of each such op, or why it isn't a kernel")
      ->type_name("OP[:TARGET]")
      ->allow_extra_args(false)
      ->group(questions);
  app.add_option("--inspect-var", options->inspect_var,
                 "A leaf or output by name, or %12: its type, class, terms, users and kernels")
      ->type_name("TENSOR")
      ->allow_extra_args(false)
      ->group(questions);
  app.add_option("--trace-fn", options->trace_fn,
                 "The rows of a function of the e-graph that mention a tensor's class")
      ->type_name("FUNCTION TENSOR")
      ->allow_extra_args(false)
      ->group(questions);
  app.add_flag("--trace-missing-dtype", options->trace_missing_dtype,
               "The values whose type nothing says, and the terms and rules responsible")
      ->group(questions);
  app.add_option("--why-not", options->why_not, "A rule: why it doesn't match at --at")
      ->type_name("RULE")
      ->allow_extra_args(false)
      ->group(questions);
  app.add_option("--at", options->at, "The tensor that --why-not asks about")
      ->type_name("TENSOR")
      ->allow_extra_args(false)
      ->group(questions);
  app.add_flag("--analyze", options->analyze, "Find what is wrong, from its first cause on")
      ->group(questions);
  app.add_flag("--json", options->json, "Print JSON");
  app.callback([options] { run(*options); });
}

}  // namespace luminal::cli
