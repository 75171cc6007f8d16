// NodeSymbols: numbers nodes by what they compute, whichever nodes they read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "luminal/graph/graph.h"

namespace luminal::search {

// Two nodes have the same number if they are the same op with the same attribute, result type and
// operand types. Labels and names of leaves don't count. Custom ops are equal by name and rules;
// each node still runs its own.
class NodeSymbols {
 public:
  explicit NodeSymbols(const Graph& graph) : graph_(graph) {}

  uint32_t of(NodeId id);

 private:
  const Graph& graph_;
  std::map<std::vector<uint64_t>, uint32_t> numbers_;
  std::map<std::pair<std::string, std::string>, uint64_t> custom_ops_;  // in order of appearance
};

}  // namespace luminal::search
