// luminal graph print|verify|draw: reads a graph's text form and checks, prints or draws it.
#include "luminal/graph/graph.h"
#include "apps/cli/files/files.h"
#include "apps/cli/options/command.h"
#include "apps/cli/options/json_result.h"
#include "luminal/base/errors.h"
#include "luminal/graph/graphviz.h"
#include "luminal/graph/text_form.h"
#include "luminal/graph/verify.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace luminal::cli {
namespace {

struct GraphOptions {
  std::string file;
  std::string output;
  bool json = false;
};

void draw(const GraphOptions& options) {
  const std::string extension = std::filesystem::path(options.output).extension().string();
  const bool to_dot = options.output.empty() || extension == ".dot";
  if (!to_dot && extension != ".svg" && extension != ".png") {
    throw UserError("can't draw into '" + options.output +
                    "': its name must end in .svg, .png or .dot");
  }
  const std::string dot_text = to_graphviz(*read_graph(options.file));
  if (options.output.empty()) {
    std::cout << dot_text;
  } else if (to_dot) {
    write_text(options.output, dot_text);
  } else {
    draw_with_dot(dot_text, extension.substr(1), options.output);
  }
}

}  // namespace

void define_graph(CLI::App& app) {
  app.require_subcommand(1);
  auto options = std::make_shared<GraphOptions>();
  auto add = [&](const char* name, const char* summary) {
    CLI::App* command = app.add_subcommand(name, summary);
    command
        ->add_option("file", options->file,
                     "Graph: text, - for standard input, or .pt2 file of PyTorch")
        ->required();
    return command;
  };
  add("print", "Parse a graph and print it back")->callback([options] {
    std::cout << print_graph(*read_graph(options->file));
  });
  CLI::App* verifying = add("verify", "Check a graph and report what is wrong with it");
  add_json(*verifying, options->json);
  verifying->callback([options] {
    verify(*read_graph(options->file));
    if (options->json) return print_json_result({{"file", options->file}, {"valid", true}});
    std::cout << options->file << ": valid\n";
  });
  CLI::App* drawing = add("draw", "Draw a graph with Graphviz");
  drawing->add_option("-o,--output", options->output,
                      "File to write: .svg, .png or .dot (default: dot text on standard output)");
  drawing->callback([options] { draw(*options); });
}

}  // namespace luminal::cli
