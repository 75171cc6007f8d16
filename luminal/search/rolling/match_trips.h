// match_trips: whether parts of a graph are trips (iterations) of one loop.
#pragma once

#include <optional>
#include <vector>

#include "luminal/search/rolling/find_loops.h"

namespace luminal::search {

class TripMatcher {
 public:
  // `symbols` by node id, see NodeSymbols; `readers` as consumers() returns them.
  TripMatcher(const Graph& graph, const std::vector<uint32_t>& symbols,
              const std::vector<std::vector<NodeId>>& readers);

  // The loop with these trips, each in topological order; nullopt if they differ.
  std::optional<Loop> loop_of(std::vector<std::vector<NodeId>> trips);

  // A trip before the first one, found by walking both at once. The search for periodic runs misses
  // a first layer whose nodes are interleaved with nodes that all layers share. Positions that
  // nothing in the trip reads are only a guess: loop_of() decides.
  std::optional<std::vector<NodeId>> trip_before(const Loop& loop);

 private:
  struct Place {
    uint32_t trip, position;
  };
  bool place_all(const std::vector<std::vector<NodeId>>& trips);
  void forget(const std::vector<std::vector<NodeId>>& trips);
  bool is_outside(NodeId id) const { return place_[id.index()].trip == kOutside; }
  std::optional<LoopOperand> operand(const std::vector<std::vector<NodeId>>& trips, size_t position,
                                     size_t k) const;
  bool all_operands(Loop& loop) const;
  bool hands_over_packed(const Loop& loop) const;
  bool fill_unread(const Loop& loop, std::vector<NodeId>& before) const;
  bool put(const Loop& loop, std::vector<NodeId>& before, uint32_t position, NodeId id) const;

  static constexpr uint32_t kOutside = UINT32_MAX;
  const Graph& graph_;
  const std::vector<uint32_t>& symbols_;
  const std::vector<std::vector<NodeId>>& readers_;
  std::vector<Place> place_;  // by node: its place in the trips at hand
};

}  // namespace luminal::search
