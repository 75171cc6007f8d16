// Opens a graph by its path: a text file, or a language model as a session compiles it.
#pragma once

#include <memory>
#include <string>

#include "luminal/driver/compile.h"
#include "luminal/graph/graph.h"

namespace CLI {
class App;
}

namespace luminal::cli {

// What a model's graph depends on besides its files.
struct ModelShape {
  std::string dtype = "f32";

  // Defines --dtype; `this` must live until the command line is parsed.
  void add_to(CLI::App& app);
};

struct NamedGraph {
  std::string name;
  std::unique_ptr<Graph> graph;
  CompileOptions options;
  Bindings sizes = {};  // of variables with a fixed value: the capacity of a model's cache
};

// If the path is a model, its variants and sizes are added to `options`. "-" reads a graph's text
// from standard input.
NamedGraph open_graph(const std::string& path, const ModelShape& model, CompileOptions options);

}  // namespace luminal::cli
