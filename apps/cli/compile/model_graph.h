// A graph by its path: its text, or a language model as a session compiles it, with its weights.
#pragma once

#include <memory>
#include <string>

#include "luminal/driver/compile.h"
#include "luminal/graph/graph.h"

namespace CLI {
class App;
}

namespace luminal::cli {

// What a model's graph depends on beside its files.
struct ModelShape {
  std::string dtype = "f32";

  // Defines --dtype; `this` must live until the command line is parsed.
  void add_to(CLI::App& app);
};

struct NamedGraph {
  std::string name;
  std::unique_ptr<Graph> graph;
  CompileOptions options;
  Bindings sizes = {};  // of variables whose value isn't free: the room of a model's cache
};

// `options` with the variants and sizes of a model, where the path is one. "-" reads a graph's text
// from standard input.
NamedGraph open_graph(const std::string& path, const ModelShape& model, CompileOptions options);

}  // namespace luminal::cli
