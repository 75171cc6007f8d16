// PlannedGraph: a graph with the plan that computes it: what the driver hands to a backend.
#pragma once

#include <vector>

#include "luminal/graph/node.h"
#include "luminal/kernel/lower/term_graph.h"
#include "luminal/kernel/plan/plan.h"

namespace luminal::kernel {

struct PlannedGraph {
  TermGraph terms;
  Plan plan;
  IdVector<SourceId, NodeId> source_nodes;  // the leaf, or what a host step computes
  std::vector<ClassId> class_of;            // by node id; not valid for nodes that nobody needs

  // The source that holds a class, if it is one; else a kernel of the plan stores it.
  SourceId source_of(ClassId id) const {
    for (const Term& term : terms.at(id).terms) {
      if (const auto* load = std::get_if<LoadTerm>(&term)) return load->source;
    }
    return {};
  }
};

}  // namespace luminal::kernel
