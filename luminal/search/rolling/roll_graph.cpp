#include "luminal/search/rolling/roll_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "luminal/graph/tensor.h"
#include "luminal/graph/traverse.h"
#include "luminal/search/rolling/node_symbols.h"

namespace luminal::search {
namespace {

class Rolling {
 public:
  Rolling(const Graph& graph, const std::vector<Loop>& loops)
      : graph_(graph), loops_(loops), symbols_(graph) {
    out_.graph = std::make_unique<Graph>();
    out_.places.resize(graph.size());
    out_.trips.push_back(1);
    position_.resize(graph.size(), 0);
    for (size_t l = 0; l < loops.size(); ++l) {
      out_.trips.push_back(loops[l].n_trips());
      for (size_t t = 0; t < loops[l].n_trips(); ++t) {
        for (size_t q = 0; q < loops[l].n_nodes(); ++q) {
          RolledPlace& place = out_.places[loops[l].trips[t][q].index()];
          place.loop = static_cast<int>(l) + 1;
          place.trip = t;
          position_[loops[l].trips[t][q].index()] = q;
        }
      }
      out_.summary += fmt::format("{}{} iterations of {} nodes", l == 0 ? "" : ", ",
                                  loops[l].n_trips(), loops[l].n_nodes());
    }
  }

  RolledGraph run(const std::vector<NodeId>& roots) {
    for (NodeId id : topological_order(graph_, roots)) {
      if (graph_.node(id).op == Op::Input) continue;  // made when it is first read
      if (place(id).loop == 0) {
        outside(id);
      } else if (place(id).trip == 0) {
        inside(id);
      }
    }
    for (NodeId id : roots) want(id);
    for (const LoopMarker& marker : out_.markers) {
      for (NodeId id : marker.stands_for) want(id);
    }
    update_states();
    std::ranges::sort(out_.roots);
    out_.roots.erase(std::unique(out_.roots.begin(), out_.roots.end()), out_.roots.end());
    return std::move(out_);
  }

 private:
  using Nodes = std::vector<NodeId>;  // by trip

  RolledPlace& place(NodeId id) { return out_.places[id.index()]; }

  NodeId add(Node node, int loop) {
    const NodeId id{static_cast<uint32_t>(out_.graph->size())};
    out_.graph->add(std::move(node));
    out_.loop_of.push_back(loop);
    return id;
  }

  NodeId leaf(const std::string& name, Role role, const Node& like, int loop) {
    std::string unique = name;
    while (out_.graph->find(unique)) unique += "'";
    return add({.op = Op::Input,
                .dtype = like.dtype,
                .dims = like.dims,
                .inputs = {},
                .attribute = InputAttr{role, unique},
                .label = {}},
               loop);
  }

  Role role_of(NodeId id) const {
    const Node& node = graph_.node(id);
    return node.op == Op::Input ? node.as<InputAttr>().role : Role::Input;
  }

  static bool is_cheap(const Node& node) {
    if (node.materialized) return false;
    return node.op == Op::View || node.op == Op::Constant || node.op == Op::Iota;
  }

  // ---- Outside of loops ----------------------------------------------------------------------

  // The rolled node for a read from outside of the node's loop.
  NodeId outside(NodeId id) {
    const auto known = outside_.find(id);
    if (known != outside_.end()) return known->second;
    const Node& node = graph_.node(id);
    NodeId made;
    if (node.op == Op::Input) {
      made = leaf(node.as<InputAttr>().name, role_of(id), node, 0);
    } else if (place(id).loop > 0 && !is_cheap(node)) {
      made = marker(0, {id}, node);
    } else {
      Node copy = node;
      for (NodeId& input : copy.inputs) input = outside(input);
      made = add(std::move(copy), 0);
    }
    outside_.emplace(id, made);
    if (place(id).loop == 0) place(id).node = made;
    return made;
  }

  // ---- Inside of one -------------------------------------------------------------------------

  // A node of the first trip represents its counterparts in all trips.
  void inside(NodeId id) {
    const Loop& loop = loops_[static_cast<size_t>(place(id).loop) - 1];
    Nodes all;
    for (const auto& trip : loop.trips) all.push_back(trip[position_[id.index()]]);
    const NodeId made = body_node(place(id).loop, all);
    for (NodeId each : all) place(each).node = made;
  }

  NodeId body_node(int loop, const Nodes& all) {
    Node copy = graph_.node(all.front());
    for (size_t k = 0; k < copy.inputs.size(); ++k) {
      Nodes read;
      for (NodeId each : all) read.push_back(graph_.node(each).inputs[k]);
      copy.inputs[k] = value_in(loop, read);
    }
    return add(std::move(copy), loop);
  }

  // What a loop's body reads where its trips read these nodes, one per trip.
  NodeId value_in(int loop, const Nodes& read) {
    const NodeId first = read.front();
    if (place(first).loop == loop && place(first).trip == 0) return place(first).node;
    const bool same = std::ranges::all_of(read, [&](NodeId id) { return id == first; });
    if (same) return outside(first);
    const auto known = read_in_.find({loop, read});
    if (known != read_in_.end()) return known->second;
    const Node& node = graph_.node(first);
    const uint32_t symbol = symbols_.of(first);
    const bool again = is_cheap(node) && std::ranges::all_of(read, [&](NodeId id) {
                         return symbols_.of(id) == symbol;
                       });
    const NodeId made = again ? body_node(loop, read) : marker(loop, read, node);
    read_in_.emplace(std::make_pair(loop, read), made);
    return made;
  }

  // ---- Boundaries ----------------------------------------------------------------------------

  NodeId marker(int loop, Nodes stands_for, const Node& like) {
    const std::string name =
        loop > 0 ? fmt::format("loop {}: {} …", loop, graph_.describe(stands_for.front()))
                 : fmt::format("trip {} of loop {}: {}", place(stands_for[0]).trip,
                               place(stands_for[0]).loop, graph_.describe(stands_for[0]));
    const Role role = role_of(stands_for.front());
    const bool same =
        std::ranges::all_of(stands_for, [&](NodeId id) { return role_of(id) == role; });
    const NodeId made = leaf(name, same ? role : Role::Input, like, loop);
    out_.markers.push_back({.leaf = made, .loop = loop, .stands_for = std::move(stands_for)});
    return made;
  }

  // Updates the states of one trip like those of all trips, so that one trip can be run by itself.
  void update_states() {
    std::map<NodeId, NodeId> leaf_of;
    for (const auto& [id, made] : outside_) leaf_of.emplace(id, made);
    for (const LoopMarker& marker : out_.markers) {
      if (marker.loop > 0) leaf_of.emplace(marker.stands_for.front(), marker.leaf);
    }
    for (const StateUpdate& update : graph_.updates()) {
      const auto state = leaf_of.find(update.state);
      const NodeId value = place(update.value).node;
      if (state == leaf_of.end() || !value.valid()) continue;
      const Node& leaf = out_.graph->node(state->second);
      if (leaf.op != Op::Input || leaf.as<InputAttr>().role != Role::State) continue;
      out_.graph->update(out_.graph->tensor(state->second), out_.graph->tensor(value));
    }
  }

  // Requires a value in memory, in every trip if it is in a loop. Leaves already are.
  void want(NodeId id) {
    if (graph_.node(id).op != Op::Input) out_.roots.push_back(place(id).node);
  }

  const Graph& graph_;
  const std::vector<Loop>& loops_;
  NodeSymbols symbols_;
  RolledGraph out_;
  std::map<NodeId, NodeId> outside_;
  std::map<std::pair<int, Nodes>, NodeId> read_in_;
  std::vector<size_t> position_;  // by node, in its trip
};

}  // namespace

RolledGraph roll_graph(const Graph& graph, const std::vector<NodeId>& roots,
                       const std::vector<Loop>& loops) {
  return Rolling(graph, loops).run(roots);
}

}  // namespace luminal::search
