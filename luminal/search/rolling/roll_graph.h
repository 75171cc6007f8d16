// roll_graph: a graph with one trip of each loop in place of all of them.
//
// What a trip reads of another trip, or what is another tensor in every trip, is a marker there: a
// leaf that stands for other nodes. So everything that works on graphs works on a rolled one, and
// nothing sees through a loop's boundary. Leaves keep their roles, and states are updated: a rolled
// graph is a program of its own, of one trip of each loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "luminal/search/rolling/find_loops.h"

namespace luminal::search {

struct LoopMarker {
  NodeId leaf;  // of the rolled graph
  int loop;     // whose trips read it, from 1; 0: it is read outside of loops
  // The nodes of the graph that it stands for: in each trip of the loop (a carried value, or a
  // tensor for each trip), or one, a value of some trip that is wanted outside.
  std::vector<NodeId> stands_for;
};

// Where a node of the graph went.
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

  std::string summary;  // "30 trips of 212 nodes"
};

// Views, constants and index values are never handed over: they are cheaper made again.
RolledGraph roll_graph(const Graph& graph, const std::vector<NodeId>& roots,
                       const std::vector<Loop>& loops);

}  // namespace luminal::search
