// find_loops: finds repeated parts of a graph, its layers, as loops. For example
//
//   h1 = f(h0, w0)   h2 = f(h1, w1)   h3 = f(h2, w2)
//
// is a loop of three trips (iterations): trips[t] are the nodes of f in layer t. Its operand h is
// Carried from the trip before (h0, a node outside, in the first); its operand w is Outside,
// another node for each trip.
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
    Outside,  // the same node in all trips (loop-invariant), or one for each
  };
  Kind kind;
  uint32_t position = 0;
  uint32_t distance = 0;
};

// trips[t][q] is the counterpart in trip t of trips[0][q]: the same op, with its operands where
// operands[q] says for all trips. No path leaves the loop and enters it again.
struct Loop {
  std::vector<std::vector<NodeId>> trips;
  std::vector<std::vector<LoopOperand>> operands;  // by position and operand

  size_t n_trips() const { return trips.size(); }
  size_t n_nodes() const { return trips.front().size(); }  // of a trip
  // Whether a carried value depends on the one carried before: layers in sequence, not parallel
  // towers.
  bool is_chain() const;
};

// Ways to roll a graph, each a list of disjoint loops. They differ in where a trip of the largest
// loop starts (rotations): what one trip hands to the next is stored, so the start matters to the
// plan. At most three, which hand over about as few bytes as the best; those with the most trips
// come first. Empty if nothing repeats. `sizes` are values of variables, to compute bytes.
std::vector<std::vector<Loop>> find_loops(const Graph& graph, const std::vector<NodeId>& roots,
                                          Rolling roll, const Bindings& sizes);

}  // namespace luminal::search
