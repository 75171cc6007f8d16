// pack_weights: stores weights that contractions read as packed B panels (see panels.h).
//
// Panels are a value like any other: a class that is a view of the weight, and a kernel that stores
// it. That kernel reads only weights, so it runs once, when weights are set; the contraction then
// loads the panels.
#pragma once

#include <string>
#include <vector>

#include "luminal/kernel/plan/planned_graph.h"
#include "luminal/kernel/recognise/panels.h"

namespace luminal::kernel {

// What packing must know and a plan doesn't say.
struct PackRequest {
  Packing packing;
  IdVector<SourceId, bool> is_weight;  // the same in every run
  std::vector<ClassId> results;        // that every run writes: outputs, new values of states
  std::vector<ClassId> host_reads;     // that steps on the host read
  int first_kernel = 0;                // the number that reports give to the plan's first kernel
};

// Packs every right factor that comes from weights alone and can be read in panels, or else the
// left one, once per order it is read in, except in kernels that a library computes. Steps keep
// their order; each new one comes before the first that reads it. Returns a report line, with the
// reason, per weight that is held more than once.
std::vector<std::string> pack_weights(PlannedGraph& planned, const PackRequest& request);

}  // namespace luminal::kernel
