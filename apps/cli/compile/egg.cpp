// luminal egg: runs an e-graph program like egglog's binary, with inspection options.
#include "luminal/egraph/egraph.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/cli/files/files.h"
#include "apps/cli/options/command.h"
#include "apps/cli/options/numbers.h"
#include "apps/cli/terminal/progress_line.h"
#include "luminal/base/errors.h"

namespace luminal::cli {
namespace {

struct EggArguments {
  std::vector<std::string> files;
  bool allow_files = false;
  egraph::RunLimits limits;
  bool progress = false;
  bool stats = false;
  std::string stats_json;
  std::vector<std::string> why_not;
  std::vector<std::string> explain;
  std::string explain_json;
  std::string json;
  std::string dot;
  std::string around;
  bool children_only = false;
  uint32_t radius = egraph::ExportOptions{}.radius;
  std::optional<size_t> shown_nodes;
};

// Larger drawings are unreadable, and 'dot' takes minutes for them.
constexpr size_t kNodesOfADrawing = 500;

void show(ProgressLine& line, const egraph::RunProgress& now) {
  if (!line.due()) return;
  line.show(fmt::format("{:.1f} s: iteration {}, {} tuples, {} classes, rule '{}'", now.seconds,
                        now.iteration, now.tuples, now.classes, now.rule));
}

void write_to(const std::string& path, const std::string& text) {
  path == "-" ? void(std::cout << text) : write_text(path, text);
}

void write_drawing(const std::string& path, const std::string& dot_text) {
  const std::string ending = std::filesystem::path(path).extension().string();
  const bool drawn = ending == ".svg" || ending == ".png";
  drawn ? draw_with_dot(dot_text, ending.substr(1), path) : write_to(path, dot_text);
}

void check(const EggArguments& options) {
  const auto refuse = [](const char* option, const char* why) {
    throw CLI::ValidationError(option, why);
  };
  if (!options.around.empty() && options.json.empty() && options.dot.empty()) {
    refuse("--around", "says what to export; add --json or --dot");
  }
  if (!options.explain_json.empty() && options.explain.empty()) {
    refuse("--explain-json", "says where explanations go; add --explain");
  }
  const int to_stdout = (options.json == "-") + (options.dot == "-") + (options.stats_json == "-") +
                        (options.explain_json == "-");
  if (to_stdout > 1) {
    refuse("-", "only one of --json, --dot, --stats-json and --explain-json can be written there");
  }
}

// A checker that only knows the rules as written replays each explanation.
void explain(egraph::EGraph& egraph, const EggArguments& options, std::ostream& out) {
  std::string json;
  for (const std::string& question : options.explain) {
    const egraph::Explanation explanation = egraph.explain(question);
    const egraph::ProofVerdict verdict = egraph.check(explanation);
    out << egraph.text(explanation);
    if (!verdict.accepted) throw InternalError("the explanation is wrong: " + verdict.why);
    out << fmt::format("checked: {} {}\n", explanation.steps.size(),
                       explanation.steps.size() == 1 ? "step" : "steps");
    json += (json.empty() ? "[" : ",\n") + egraph.json(explanation);
  }
  if (!options.explain_json.empty()) write_to(options.explain_json, json + "]\n");
}

void look_inside(egraph::EGraph& egraph, const std::vector<egraph::RunReport>& runs,
                 const EggArguments& options, std::ostream& out) {
  if (options.stats || !options.stats_json.empty()) {
    const egraph::RunReport report = egraph::overall(runs);
    if (options.stats) out << report.text() << report.growth();
    if (!options.stats_json.empty()) write_to(options.stats_json, report.json() + "\n");
  }
  for (const std::string& question : options.why_not) out << egraph.why_not(question).text();
  if (!options.explain.empty()) explain(egraph, options, out);

  egraph::ExportOptions shown{.radius = options.radius, .parents = !options.children_only};
  if (!options.around.empty()) shown.around = egraph.find_term(options.around);
  if (!options.json.empty()) {
    shown.shown_nodes = options.shown_nodes.value_or(egraph::ExportOptions{}.shown_nodes);
    write_to(options.json, egraph.export_json(shown));
  }
  if (!options.dot.empty()) {
    shown.shown_nodes = options.shown_nodes.value_or(kNodesOfADrawing);
    write_drawing(options.dot, egraph.export_dot(shown));
  }
}

// An untrusted program may read files beside it, and may write none.
egraph::Files files_for(const std::string& file, const EggArguments& options) {
  if (options.allow_files) return egraph::system_files();
  egraph::Files files = egraph::files_of_folder(
      std::filesystem::path(file == "-" ? "" : file).parent_path().string());
  files.hint =
      "; --allow-files lets it read and write files anywhere (include: without it, in the "
      "program's folder)";
  return files;
}

void run(const EggArguments& options) {
  check(options);
  // Output for another program is printed alone.
  const bool piped = options.json == "-" || options.dot == "-" || options.stats_json == "-" ||
                     options.explain_json == "-";
  std::ostream& out = piped ? std::cerr : std::cout;

  ProgressLine line(progress_mode(options.progress));
  egraph::RunLimits limits = options.limits;
  if (line.shows()) {
    limits.progress = [&line](const egraph::RunProgress& now) { show(line, now); };
  }
  egraph::EGraph egraph;
  if (!options.explain.empty()) egraph.record_proofs();
  std::vector<egraph::RunReport> runs;
  for (const std::string& file : options.files) {
    const auto print = [&](const std::string& text) {
      line.clear();
      out << text << std::endl;
    };
    egraph::ProgramResult result = egraph.run_program(
        read_text(file), source_name(file),
        {.limits = limits, .files = files_for(file, options), .on_output = print});
    runs.insert(runs.end(), std::make_move_iterator(result.runs.begin()),
                std::make_move_iterator(result.runs.end()));
  }
  line.clear();
  look_inside(egraph, runs, options, out);
}

}  // namespace

void define_egg(CLI::App& app) {
  auto options = std::make_shared<EggArguments>();
  app.add_option("file", options->files,
                 "Programs in the language of egglog, run one after the other in one e-graph; - "
                 "for standard input")
      ->type_name("FILE")
      ->required();
  app.add_flag("--allow-files", options->allow_files,
               "Let programs read and write any file by input, output and print, and include files "
               "from outside of their folder; only for trusted programs");

  const char* inside = "Inspection";
  app.add_flag("--stats", options->stats,
               "Print time, candidates, matches and new facts per rule; the size and the rule that "
               "added most per iteration; and the rule behind an explosion")
      ->group(inside);
  app.add_option(
         "--stats-json", options->stats_json,
         "Write the same for each rule in each iteration as JSON to FILE; - for standard output")
      ->type_name("FILE")
      ->group(inside);
  app.add_option("--why-not", options->why_not,
                 "Explain why a rule doesn't match: 'RULE at TERM' or 'RULE at VARIABLE=TERM'; may "
                 "be repeated")
      ->type_name("QUESTION")
      ->allow_extra_args(false)
      ->group(inside);
  app.add_option("--explain", options->explain,
                 "Explain why two terms are equal: 'TERM = TERM'; rules and commands step by step, "
                 "checked; may be repeated. Slows the program down")
      ->type_name("QUESTION")
      ->allow_extra_args(false)
      ->group(inside);
  app.add_option("--explain-json", options->explain_json,
                 "Write the explanations as JSON to FILE; - for standard output")
      ->type_name("FILE")
      ->group(inside);
  app.add_flag("--progress", options->progress,
               "Show the progress of long runs even if standard error is no terminal")
      ->group(inside);

  const char* exports = "Exports of the e-graph at the end";
  app.add_option("--json", options->json,
                 "Write the e-graph in the egraph-serialize format to FILE; - for standard output, "
                 "with the program's outputs on standard error")
      ->type_name("FILE")
      ->group(exports);
  app.add_option(
         "--dot", options->dot,
         "Write the e-graph as Graphviz text to FILE, drawn if it ends in .svg or .png; - as above")
      ->type_name("FILE")
      ->group(exports);
  app.add_option("--around", options->around,
                 "Export only the neighbourhood of the class of a term")
      ->type_name("TERM")
      ->group(exports);
  app.add_option("--radius", options->radius,
                 "Maximum steps from class to class, starting at --around")
      ->capture_default_str()
      ->type_name("N")
      ->group(exports);
  app.add_flag("--children-only", options->children_only,
               "Step to arguments only, not to the terms that use them")
      ->group(exports);
  app.add_option("--shown-nodes", options->shown_nodes,
                 fmt::format("Maximum number of nodes (default: {} in JSON, {} in a drawing)",
                             egraph::ExportOptions{}.shown_nodes, kNodesOfADrawing))
      ->type_name("N")
      ->group(exports);

  const char* limits = "Limits of each run; reaching one is an outcome that names the rule";
  app.add_option("--max-nodes", options->limits.nodes, "Maximum rows of all tables")
      ->capture_default_str()
      ->type_name("N")
      ->group(limits);
  app.add_option("--max-matches", options->limits.matches_per_rule,
                 "Maximum matches of one rule in one iteration")
      ->capture_default_str()
      ->type_name("N")
      ->group(limits);
  app.add_option("--max-bytes", options->limits.bytes,
                 fmt::format("Maximum size of tables, indexes, classes, matches, strings and "
                             "containers, in bytes or as 2GB (default: only strings and containers "
                             "have a limit, of {} MB)",
                             egraph::kMostConstantBytes >> 20))
      ->transform(CLI::AsSizeValue(false))
      ->transform(whole_bytes())
      ->type_name("BYTES")
      ->group(limits);
  app.add_option("--max-iterations", options->limits.iterations, "Maximum iterations of rulesets")
      ->type_name("N")
      ->group(limits);
  app.add_option("--max-seconds", options->limits.seconds, "Maximum seconds")
      ->check(positive())
      ->type_name("S")
      ->group(limits);
  app.callback([options] { run(*options); });
}

}  // namespace luminal::cli
