#include "luminal/search/rolling/match_trips.h"

#include <algorithm>

namespace luminal::search {

using OperandKind = LoopOperand::Kind;
using Trips = std::vector<std::vector<NodeId>>;

bool Loop::is_chain() const {
  std::vector<bool> handed(n_nodes(), false);  // by position: whether it depends on a carried value
  for (size_t q = 0; q < n_nodes(); ++q) {
    handed[q] = std::ranges::any_of(operands[q], [&](const LoopOperand& operand) {
      return operand.kind == OperandKind::Carried ||
             (operand.kind == OperandKind::Inside && handed[operand.position]);
    });
  }
  return std::ranges::any_of(operands, [&](const std::vector<LoopOperand>& of_node) {
    return std::ranges::any_of(of_node, [&](const LoopOperand& operand) {
      return operand.kind == OperandKind::Carried && handed[operand.position];
    });
  });
}

TripMatcher::TripMatcher(const Graph& graph, const std::vector<uint32_t>& symbols,
                         const std::vector<std::vector<NodeId>>& readers)
    : graph_(graph),
      symbols_(symbols),
      readers_(readers),
      place_(graph.size(), Place{kOutside, 0}) {}

// False if a node would have two places, or if nodes of one position differ.
bool TripMatcher::place_all(const Trips& trips) {
  for (uint32_t t = 0; t < trips.size(); ++t) {
    for (uint32_t q = 0; q < trips[t].size(); ++q) {
      const NodeId id = trips[t][q];
      if (!is_outside(id) || symbols_[id.index()] != symbols_[trips[0][q].index()]) return false;
      place_[id.index()] = {t, q};
    }
  }
  return true;
}

void TripMatcher::forget(const Trips& trips) {
  for (const auto& trip : trips) {
    for (NodeId id : trip) place_[id.index()].trip = kOutside;
  }
}

std::optional<Loop> TripMatcher::loop_of(Trips trips) {
  Loop loop{.trips = std::move(trips), .operands = {}};
  const bool matches = place_all(loop.trips) && all_operands(loop) && !hands_over_packed(loop);
  forget(loop.trips);
  if (!matches) return std::nullopt;
  return loop;
}

// The last trip decides where an operand is, since all trips that it may read come before it.
std::optional<LoopOperand> TripMatcher::operand(const Trips& trips, size_t position,
                                                size_t k) const {
  auto read_by = [&](size_t t) { return graph_.node(trips[t][position]).inputs[k]; };
  const auto last = static_cast<uint32_t>(trips.size() - 1);
  const Place found = place_[read_by(last).index()];
  LoopOperand result{.kind = OperandKind::Outside};
  if (found.trip != kOutside) {
    result.position = found.position;
    result.distance = last - found.trip;
    result.kind = result.distance == 0 ? OperandKind::Inside : OperandKind::Carried;
  }
  for (uint32_t t = 0; t < last; ++t) {
    const bool outside = result.kind == OperandKind::Outside || t < result.distance;
    if (outside ? !is_outside(read_by(t))
                : read_by(t) != trips[t - result.distance][result.position]) {
      return std::nullopt;
    }
  }
  return result;
}

bool TripMatcher::all_operands(Loop& loop) const {
  for (size_t q = 0; q < loop.n_nodes(); ++q) {
    auto& of_node = loop.operands.emplace_back();
    for (size_t k = 0; k < graph_.node(loop.trips[0][q]).inputs.size(); ++k) {
      const std::optional<LoopOperand> found = operand(loop.trips, q, k);
      if (!found) return false;
      of_node.push_back(*found);
    }
  }
  return true;
}

// What one trip hands to another is stored, and no kernel can store u4.
bool TripMatcher::hands_over_packed(const Loop& loop) const {
  for (const auto& trip : loop.trips) {
    for (NodeId id : trip) {
      for (NodeId input : graph_.node(id).inputs) {
        const Node& read = graph_.node(input);
        if (read.dtype != DType::U4 || read.op == Op::Input) continue;
        if (place_[input.index()].trip != place_[id.index()].trip) return true;
      }
      if (graph_.node(id).dtype != DType::U4) continue;
      for (NodeId reader : readers_[id.index()]) {
        if (is_outside(reader)) return true;
      }
    }
  }
  return false;
}

// Assigns positions to a node and to what it reads inside its trip.
bool TripMatcher::put(const Loop& loop, std::vector<NodeId>& before, uint32_t position,
                      NodeId id) const {
  std::vector<std::pair<uint32_t, NodeId>> open = {{position, id}};
  while (!open.empty()) {
    const auto [q, node] = open.back();
    open.pop_back();
    if (before[q] == node) continue;
    if (before[q].valid() || !is_outside(node)) return false;
    if (symbols_[node.index()] != symbols_[loop.trips[0][q].index()]) return false;
    before[q] = node;
    for (size_t k = 0; k < loop.operands[q].size(); ++k) {
      const LoopOperand& operand = loop.operands[q][k];
      if (operand.kind == OperandKind::Inside) {
        open.emplace_back(operand.position, graph_.node(node).inputs[k]);
      }
    }
  }
  return true;
}

// Fills positions that no later one reads, such as a state's new value, with a reader of the same
// operands.
bool TripMatcher::fill_unread(const Loop& loop, std::vector<NodeId>& before) const {
  for (uint32_t q = 0; q < before.size(); ++q) {
    if (before[q].valid()) continue;
    const auto& operands = loop.operands[q];
    const auto inside = std::ranges::find(operands, OperandKind::Inside, &LoopOperand::kind);
    if (inside == operands.end()) return false;
    const NodeId read = before[inside->position];
    const auto fits = [&](NodeId reader) {
      if (!is_outside(reader) || std::ranges::find(before, reader) != before.end()) return false;
      if (symbols_[reader.index()] != symbols_[loop.trips[0][q].index()]) return false;
      for (size_t k = 0; k < operands.size(); ++k) {
        if (operands[k].kind != OperandKind::Inside) continue;
        if (graph_.node(reader).inputs[k] != before[operands[k].position]) return false;
      }
      return true;
    };
    const auto found = std::ranges::find_if(readers_[read.index()], fits);
    if (found == readers_[read.index()].end() || !put(loop, before, q, *found)) return false;
  }
  return true;
}

std::optional<std::vector<NodeId>> TripMatcher::trip_before(const Loop& loop) {
  std::vector<NodeId> before(loop.n_nodes());
  if (!place_all(loop.trips)) return std::nullopt;
  bool found = true, any = false;
  for (size_t q = 0; found && q < loop.n_nodes(); ++q) {
    for (size_t k = 0; found && k < loop.operands[q].size(); ++k) {
      const LoopOperand& operand = loop.operands[q][k];
      if (operand.kind != OperandKind::Carried) continue;
      any = true;
      found = put(loop, before, operand.position,
                  graph_.node(loop.trips[operand.distance - 1][q]).inputs[k]);
    }
  }
  found = found && any && fill_unread(loop, before);
  forget(loop.trips);
  if (!found) return std::nullopt;
  return before;
}

}  // namespace luminal::search
