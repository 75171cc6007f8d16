// UnrolledTerms: the classes of a rolled graph's terms, repeated for every trip.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "luminal/search/rolling/unroll_plan.h"

namespace luminal::search {

// A trip of a loop; what is outside of loops is in trip 0 of loop 0.
struct Trip {
  int loop = 0;
  size_t number = 0;
};

class UnrolledTerms {
 public:
  UnrolledTerms(const Graph& graph, const std::vector<NodeId>& order, const RolledGraph& rolled,
                const PlanLoops& loops, const PlannedTerms& of_rolled);

  // Classes are made when they are first asked for.
  kernel::ClassId class_in(kernel::ClassId id, Trip trip);
  kernel::ClassId class_of(NodeId id);
  kernel::SourceId source_in(kernel::SourceId source,
                             Trip trip) const;  // of a leaf, or of a host step of that trip
  kernel::LoweredKernel kernel_in(const kernel::LoweredKernel& lowered, Trip trip);

  // Adds the terms of every class that was asked for, and the classes that those read.
  void finish();

  IdVector<kernel::SourceId, SourceTensor> sources;
  ExtractedTerms extracted;
  std::vector<int> chosen;
  std::vector<kernel::ClassId> rolled_class;  // by class; not valid for leaves that only trips read

 private:
  kernel::ClassId add(const kernel::TermClass& like, kernel::ClassId of, Trip trip);
  kernel::ClassId leaf_class(NodeId id);
  const LoopMarker* marker_of(kernel::ClassId id) const;
  kernel::Term term_in(const kernel::Term& term, Trip trip);

  const Graph& graph_;
  const RolledGraph& rolled_;
  const PlanLoops& loops_;
  const PlannedTerms& of_rolled_;
  IdVector<kernel::SourceId, const LoopMarker*>
      marker_of_source_;  // of the rolled graph; null for others
  std::map<NodeId, kernel::SourceId> source_of_node_;
  std::map<std::pair<NodeId, size_t>, NodeId> node_of_source_;  // by rolled node and trip
  std::map<std::pair<int, size_t>, std::unordered_map<uint32_t, kernel::ClassId>> known_;
  std::map<NodeId, kernel::ClassId> leaves_;
  std::vector<Trip> trip_of_;  // by class
  size_t finished_ = 0;
};

}  // namespace luminal::search
