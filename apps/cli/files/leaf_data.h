// The sizes and data that a graph runs on: as they were given, else typical sizes and random data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "luminal/graph/graph.h"

namespace CLI {
class App;
}

namespace luminal::cli {

struct LeafArguments {
  std::vector<std::string> bindings;  // "NAME=VALUE"
  std::vector<std::string> inputs;    // "NAME=FILE"

  // Defines --bind and --input; `this` must live until the command line is parsed.
  void add_to(CLI::App& app, const char* group);

  // Given values, else those of `own`, and for the other variables one between their bounds.
  Bindings sizes(const Graph& graph, int64_t typical = 128, const Bindings& own = {}) const;
  // What is to be set: the leaves that files were given for, and random data for those that have
  // none. States are left at 0.
  std::map<NodeId, TensorData> data(const Graph& graph, const Bindings& sizes, uint64_t seed) const;
};

}  // namespace luminal::cli
