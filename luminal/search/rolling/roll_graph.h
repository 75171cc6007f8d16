// roll_graph: replaces all trips (iterations) of a loop by one.
//
// What a trip reads of another trip, and what is a different tensor in every trip, becomes a
// marker: a leaf that stands for other nodes. So everything that works on graphs works on a rolled
// one, and nothing sees through a loop's boundary. Leaves keep their roles, and states are updated:
// a rolled graph is a program of its own, of one trip of each loop. For example
//
//   h1 = f(h0, w0)   h2 = f(h1, w1)   h3 = f(h2, w2)   y = g(h3)
//
// is rolled to r = f(A, B) and y = g(C) with the markers
//
//   A for h0, h1, h2: carried     B for w0, w1, w2: one per trip     C for h3: read outside
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "luminal/search/rolling/find_loops.h"

namespace luminal::search {

struct LoopMarker {
  NodeId leaf;  // of the rolled graph
  int loop;     // the loop that reads it, from 1; 0: read outside of loops
  // The nodes of the graph that it stands for: one per trip of the loop (a carried value, or a
  // tensor per trip), or just one, a value of some trip that is read outside.
  std::vector<NodeId> stands_for;
};

// What a node of the graph became.
struct RolledPlace {
  NodeId node;   // of the rolled graph; not valid for nodes nobody needs
  int loop = 0;  // from 1; 0: outside of loops
  size_t trip = 0;
};

struct RolledGraph {
  std::unique_ptr<Graph> graph;
  std::vector<NodeId> roots;  // of the rolled graph: those asked for and what markers stand for
  std::vector<LoopMarker> markers;
  std::vector<RolledPlace> places;  // by node of the graph
  std::vector<int> loop_of;         // by node of the rolled graph, markers among them
  std::vector<size_t> trips;        // by loop; trips[0] is 1

  std::string summary;  // "30 iterations of 212 nodes"
};

// Views, constants and index values never cross a boundary: recomputing them is cheaper.
RolledGraph roll_graph(const Graph& graph, const std::vector<NodeId>& roots,
                       const std::vector<Loop>& loops);

}  // namespace luminal::search
