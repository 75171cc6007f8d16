// luminal explain: why a plan is as it is, how two plans differ, and why something didn't happen.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "apps/cli/files/files.h"
#include "apps/cli/files/report_file.h"
#include "apps/cli/options/command.h"
#include "apps/cli/options/compile_options.h"
#include "apps/cli/options/model_options.h"
#include "apps/cli/options/numbers.h"
#include "apps/cli/terminal/progress_line.h"
#include "luminal/base/errors.h"
#include "luminal/base/text/json_text.h"
#include "luminal/driver/explain/explanation.h"
#include "luminal/driver/explain/plan_diff.h"
#include "luminal/driver/explain/why_not.h"
#include "luminal/graph/text_form.h"
#include "luminal/llm/model.h"
#include "luminal/pytorch/pt2.h"

namespace luminal::cli {
namespace {

constexpr const char* kExplainExamples = R"(Examples:
  luminal explain examples/feed_forward.lum
      every kernel: what it computes, what it beat, its share of the roofline
  luminal explain examples/feed_forward.lum --kernel 1
      one of them, with its loops
  luminal explain model.gguf --dtype bf16
      the plans for single tokens and for prompts
  luminal explain GRAPH --versus fusion=always --versus numerics=exact
      how the plan would differ under other options of `luminal compile`
  luminal explain --diff before.json after.json
      two graphs, or two reports of `luminal compile --report-json`
  luminal explain GRAPH --why-not %16 %43
      why two values aren't in one kernel
  luminal explain GRAPH --why-not views-compose %18
      why a rule doesn't apply, there or anywhere)";

struct ExplainArguments {
  std::string path;
  std::vector<std::string> diff;
  std::vector<std::string> versus;
  std::vector<std::string> why_not;
  std::optional<int> kernel;
  bool json = false;
  CompileArguments compile;
  std::string dtype = "f32";
};

// The compiled graph; a report read from a file has none.
struct Compiled {
  CompileReport report;
  std::unique_ptr<Graph> graph;
  std::optional<llm::Session> session;
};

Compiled compile_model(const std::string& path, const ExplainArguments& options,
                       CompileOptions compile_options, Compiled made) {
  const llm::Model model = llm::Model::open(path);
  compile_options.report = &made.report;
  made.session.emplace(model, llm::SessionOptions{.dtype = dtype_of(options.dtype),
                                                  .compile = std::move(compile_options)});
  return made;
}

// Opens a model, a graph or a report, depending on the path.
Compiled compiled(const std::string& path, const ExplainArguments& options,
                  CompileOptions compile_options) {
  ProgressLine line;
  if (line.shows()) {
    compile_options.progress = [&line](const CompileProgress& now) { line.show(now); };
  }
  Compiled made;
  compile_options.inspect.find_rivals = true;
  if (path != "-" && llm::looks_like_model(path)) {
    return compile_model(path, options, compile_options, std::move(made));
  }
  if (pytorch::looks_like_pt2(path)) {
    made.graph = read_graph(path);
  } else {
    const std::string text = read_text(path);
    if (looks_like_report(text)) return {parse_report(text, source_name(path)), nullptr, {}};
    made.graph = graph_of_file(text, path);
  }
  compile_options.report = &made.report;
  compile(*made.graph, compile_options);
  return made;
}

// The given options with some of `luminal compile`'s overridden: "fusion=always".
CompileArguments with_others(const CompileArguments& given,
                             const std::vector<std::string>& others) {
  CompileArguments arguments = given;
  CLI::App app;
  arguments.add_to(app);
  std::vector<std::string> words;
  for (const std::string& other : others) {
    if (other.find('=') == std::string::npos || other.front() == '-' || other.front() == '=') {
      throw CLI::ValidationError("--versus", "'" + other + "' isn't OPTION=VALUE; write it like " +
                                                 "--versus fusion=always");
    }
    words.push_back("--" + other);
  }
  std::reverse(words.begin(), words.end());  // CLI11 expects them reversed
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    throw CLI::ValidationError(
        "--versus", std::string(error.what()) + "; it takes the options of `luminal compile`");
  }
  return arguments;
}

void print_diff(const Compiled& a, const std::string& a_name, const Compiled& b,
                const std::string& b_name, bool as_json) {
  const PlanDiff diff = diff_plans(a.report, a_name, b.report, b_name);
  std::cout << (as_json ? json(diff) : text(diff));
}

void run_versus(const ExplainArguments& options) {
  const Compiled a = compiled(options.path, options, options.compile.parsed());
  if (!a.graph && !a.session) {
    throw UserError(
        fmt::format("'{}' is a report: --versus compiles a graph or model again; "
                    "give that, or --diff and two reports",
                    options.path));
  }
  const CompileArguments other = with_others(options.compile, options.versus);
  const Compiled b = compiled(options.path, options, other.parsed());
  std::string b_name = options.path;
  for (const std::string& word : options.versus) {
    b_name += (word == options.versus.front() ? " with " : ", ") + word;
  }
  print_diff(a, options.path, b, b_name, options.json);
}

void print_answers(const std::vector<WhyNotAnswer>& answers, bool as_json) {
  if (!as_json) {
    for (const WhyNotAnswer& answer : answers) {
      if (!answer.variant.empty()) std::cout << "the plan for " << answer.variant << "\n";
      std::cout << text(answer.finding);
    }
    return;
  }
  base::JsonText json;
  json.begin_object();
  json.key("why_not");
  json.begin_array();
  for (const WhyNotAnswer& answer : answers) {
    json.begin_object();
    json.field("variant", answer.variant);
    json.key("answer");
    write(json, answer.finding);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  std::cout << json.text() << "\n";
}

// Graphs are only planned; a model must be compiled to know its graph and options.
void run_why_not(const ExplainArguments& options) {
  if (options.path != "-" && llm::looks_like_model(options.path)) {
    const Compiled made = compiled(options.path, options, options.compile.parsed());
    const llm::Session& session = *made.session;
    print_answers(why_not(session.graph(), session.compile_options(), options.why_not),
                  options.json);
    return;
  }
  const std::unique_ptr<Graph> graph = read_graph(options.path);
  print_answers(why_not(*graph, options.compile.parsed(), options.why_not), options.json);
}

void run_explain(const ExplainArguments& options) {
  const Compiled made = compiled(options.path, options, options.compile.parsed());
  const std::string name = source_name(options.path);
  const Explanation explanation = options.kernel
                                      ? explain_kernel(made.report, name, *options.kernel)
                                      : explain(made.report, name);
  std::cout << (options.json ? json(explanation) : text(explanation));
  if (options.kernel && !options.json) {
    std::cout << "\n" << explanation.plans.front().kernels.front().kernel->text;
  }
}

void check(const ExplainArguments& options) {
  const int questions = !options.diff.empty() + !options.versus.empty() + !options.why_not.empty() +
                        options.kernel.has_value();
  if (questions > 1) {
    throw CLI::ValidationError("explain",
                               "--diff, --versus, --why-not and --kernel can't be combined");
  }
  if (options.path.empty() && options.diff.empty()) {
    throw CLI::ValidationError(
        "explain", "name a graph, a model or a report, before the options that take several words");
  }
  if (!options.path.empty() && !options.diff.empty()) {
    throw CLI::ValidationError("--diff",
                               "takes exactly two files: '" + options.path + "' is one too many");
  }
}

void run(const ExplainArguments& options) {
  check(options);
  if (!options.diff.empty()) {
    const CompileOptions compile_options = options.compile.parsed();
    const Compiled a = compiled(options.diff[0], options, compile_options);
    const Compiled b = compiled(options.diff[1], options, compile_options);
    return print_diff(a, options.diff[0], b, options.diff[1], options.json);
  }
  if (!options.versus.empty()) return run_versus(options);
  if (!options.why_not.empty()) return run_why_not(options);
  run_explain(options);
}

}  // namespace

void define_explain(CLI::App& app) {
  auto options = std::make_shared<ExplainArguments>();
  app.add_option("path", options->path,
                 "Graph: text, - for standard input, or .pt2 file of PyTorch; language model: a "
                 "GGUF file, or a "
                 "folder in Hugging Face's layout; or report of `luminal compile --report-json`");
  const char* questions = "Questions";
  app.add_option("--kernel", options->kernel, "Explain only this kernel, and show its loops")
      ->check(not_negative())
      ->type_name("N")
      ->group(questions);
  app.add_option("--diff", options->diff,
                 "Show how the plans of two graphs, models or reports differ")
      ->expected(2)
      ->type_name("A B")
      ->group(questions);
  app.add_option("--versus", options->versus,
                 "Show how the plan differs under another option of `luminal compile`, such as "
                 "fusion=always; may be repeated")
      ->type_name("OPTION=VALUE")
      ->allow_extra_args(false)
      ->group(questions);
  app.add_option("--why-not", options->why_not,
                 "Explain why two tensors (%12, or the name of a leaf or output) aren't in one "
                 "kernel, or why a rule doesn't apply, at a tensor or anywhere")
      ->expected(1, 2)
      ->type_name("A B")
      ->group(questions);
  app.add_flag("--json", options->json,
               "Print the result as JSON; docs/debugging.md lists the fields");
  add_dtype(app, options->dtype)->group(ModelArguments::kGroup);
  options->compile.add_to(app);
  app.footer(kExplainExamples);
  app.callback([options] { run(*options); });
}

}  // namespace luminal::cli
