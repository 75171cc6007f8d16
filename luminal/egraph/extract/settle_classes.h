// The order in which extraction settles classes: cheapest first, arguments before their users.
#pragma once

#include "luminal/egraph/snapshot.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

namespace luminal::egraph {

// The cost of a class without a finite term.
inline constexpr uint64_t kNoTermCost = std::numeric_limits<uint64_t>::max();

// Knuth's generalisation of Dijkstra's algorithm: a node is ready when all its argument classes are
// settled. `cost_of(node)` is called then; kNoTermCost skips the node. `settle(class, node id,
// cost)` is called once per class, for its cheapest node. So the result has no cycles, and a class
// without a finite term is never settled.
template <typename CostOf, typename Settle>
void settle_classes(const Snapshot& snapshot, const CostOf& cost_of, const Settle& settle) {
  using Ready = std::tuple<uint64_t, uint32_t>;  // cost, node: ties go to the lower node
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  std::vector<uint32_t> waiting(snapshot.nodes());  // distinct argument classes not settled yet
  std::vector<bool> settled(snapshot.classes());
  for (uint32_t c = 0; c < snapshot.classes(); ++c) {
    for (NodeId parent : snapshot.parents(ClassId{c})) ++waiting[parent.index()];
  }
  const auto make_ready = [&](NodeId id) {
    const uint64_t cost = cost_of(snapshot.node(id));
    if (cost != kNoTermCost) ready.emplace(cost, id.value);
  };
  for (uint32_t n = 0; n < snapshot.nodes(); ++n) {
    if (waiting[n] == 0) make_ready(NodeId{n});
  }
  while (!ready.empty()) {
    const auto [cost, n] = ready.top();
    ready.pop();
    const ClassId id = snapshot.node(NodeId{n}).class_id;
    if (settled[id.index()]) continue;
    settled[id.index()] = true;
    settle(id, NodeId{n}, cost);
    for (NodeId parent : snapshot.parents(id)) {
      if (--waiting[parent.index()] == 0) make_ready(parent);
    }
  }
}

}  // namespace luminal::egraph
