// The sizes and data that a graph runs on: those given, else typical sizes and random data.
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

  // The given values, else those of `own`; other variables get a value within their bounds.
  Bindings sizes(const Graph& graph, int64_t typical = 128, const Bindings& own = {}) const;
  // Data for the leaves: from the given files, random for leaves without data. States stay 0.
  std::map<NodeId, TensorData> data(const Graph& graph, const Bindings& sizes, uint64_t seed) const;
};

}  // namespace luminal::cli
