#include "luminal/search/rolling/plan_loops.h"

#include <algorithm>

namespace luminal::search {
namespace {

using kernel::ClassId;
using kernel::Term;

class Placing {
 public:
  Placing(const RolledGraph& rolled, const LoweredGraph& lowered, kernel::TermGraph& graph)
      : graph_(graph) {
    for (const SourceTensor& source : lowered.sources) {
      loop_of_source_.push_back(rolled.loop_of[source.node.index()]);
    }
    loop_of_.assign(graph.classes.size(), kNowhere);
    readers_.resize(graph.classes.size());
    for (uint32_t c = 0; c < graph.classes.size(); ++c) {
      for (const Term& term : graph.classes[c].terms) {
        for (ClassId read : kernel::operands(term)) readers_[read.index()].push_back(ClassId{c});
      }
    }
    for (size_t loop = 0; loop < rolled.trips.size(); ++loop) fill(static_cast<int>(loop));
  }

  void drop_foreign_terms() {
    for (size_t c = 0; c < graph_.classes.size(); ++c) {
      std::erase_if(graph_.classes[c].terms,
                    [&](const Term& term) { return !fits(term, loop_of_[c]); });
    }
  }

  // Classes that nothing computes, such as calls of custom ops that aren't in the graph, count as
  // outside.
  std::vector<int> take() {
    for (int& loop : loop_of_) loop = std::max(loop, 0);
    return std::move(loop_of_);
  }

 private:
  static constexpr int kNowhere = -1;

  // Whether a term can be computed in a loop: it reads only what is in that loop or outside.
  bool fits(const Term& term, int loop) const {
    if (const auto* load = std::get_if<kernel::LoadTerm>(&term)) {
      const int of_source = loop_of_source_[load->source];
      return of_source == 0 || of_source == loop;
    }
    return std::ranges::all_of(kernel::operands(term), [&](ClassId read) {
      return loop_of_[read.index()] == 0 || loop_of_[read.index()] == loop;
    });
  }

  // Assigns to `loop` the classes that can be computed in it but in none before it, from leaves up.
  void fill(int loop) {
    std::vector<ClassId> open;
    for (uint32_t c = 0; c < graph_.classes.size(); ++c) open.push_back(ClassId{c});
    while (!open.empty()) {
      const ClassId id = open.back();
      open.pop_back();
      if (loop_of_[id.index()] != kNowhere) continue;
      const bool found = std::ranges::any_of(graph_.at(id).terms,
                                             [&](const Term& term) { return fits(term, loop); });
      if (!found) continue;
      loop_of_[id.index()] = loop;
      open.insert(open.end(), readers_[id.index()].begin(), readers_[id.index()].end());
    }
  }

  kernel::TermGraph& graph_;
  IdVector<kernel::SourceId, int> loop_of_source_;
  std::vector<int> loop_of_;  // by class
  std::vector<std::vector<ClassId>> readers_;
};

}  // namespace

PlanLoops plan_loops(const RolledGraph& rolled, const LoweredGraph& lowered,
                     ExtractedTerms& terms) {
  Placing placing(rolled, lowered, terms.graph);
  placing.drop_foreign_terms();
  PlanLoops loops{.loop_of = placing.take(), .trips = {}, .loop_of_source = {}, .behind = {}};
  for (const SourceTensor& source : lowered.sources) {
    loops.loop_of_source.push_back(rolled.loop_of[source.node.index()]);
  }
  for (size_t trips : rolled.trips) loops.trips.push_back(static_cast<int>(trips));
  loops.behind.resize(lowered.sources.size());
  for (const LoopMarker& marker : rolled.markers) {
    const auto source = std::ranges::find(lowered.sources, marker.leaf, &SourceTensor::node);
    if (source == lowered.sources.end()) continue;
    auto& behind = loops.behind[kernel::SourceId::at(source - lowered.sources.begin())];
    for (NodeId id : marker.stands_for) {
      const RolledPlace& place = rolled.places[id.index()];
      if (marker.loop > 0 && place.loop == marker.loop) continue;
      if (!place.node.valid() || !terms.class_of[place.node.index()].valid()) continue;  // a leaf
      behind.push_back(terms.class_of[place.node.index()]);
    }
  }
  return loops;
}

}  // namespace luminal::search
