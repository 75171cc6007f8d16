// find_loops: parts of a graph that are the same again and again, as loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "luminal/graph/graph.h"
#include "luminal/search/policies.h"

namespace luminal::search {

// Where an operand of a loop's node is, in every trip t.
struct LoopOperand {
  enum class Kind : uint8_t {
    Inside,   // trips[t][position]
    Carried,  // trips[t - distance][position]; in the first `distance` trips, a node outside
    Outside,  // the same node in all trips (static), or one for each
  };
  Kind kind;
  uint32_t position = 0;
  uint32_t distance = 0;
};

// trips[t][q] does in trip t what trips[0][q] does in the first: it is the same op, and operands[q]
// says for all trips where its operands are. No node outside lies on a path from the loop to the
// loop.
struct Loop {
  std::vector<std::vector<NodeId>> trips;
  std::vector<std::vector<LoopOperand>> operands;  // by position and operand

  size_t n_trips() const { return trips.size(); }
  size_t n_nodes() const { return trips.front().size(); }  // of a trip
  // Whether what a trip hands over depends on what was handed to it: layers, not equal towers.
  bool is_chain() const;
};

// Ways to roll a graph, each a list of loops without common nodes. They differ in where a trip of
// the largest loop starts (rotations): a trip's end is stored, so where it is matters to the plan.
// Those that hand over the least come first; at most three. Empty where nothing repeats. `sizes`
// are of variables, to weigh what is handed over.
std::vector<std::vector<Loop>> find_loops(const Graph& graph, const std::vector<NodeId>& roots,
                                          Rolling roll, const Bindings& sizes);

}  // namespace luminal::search
