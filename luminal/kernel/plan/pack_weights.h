// pack_weights: weights that contractions read, stored in panels (see panels.h).
//
// Panels are a value like any other: a class that is a view of the weight, and a kernel that stores
// it. That kernel reads a weight alone, so it runs once, when weights are set; the contraction then
// loads from what it stored.
#pragma once

#include <string>
#include <vector>

#include "luminal/kernel/plan/planned_graph.h"
#include "luminal/kernel/recognise/panels.h"

namespace luminal::kernel {

// What a plan doesn't say about its tensors.
struct PackRequest {
  Packing packing;
  std::vector<bool> is_weight;      // by source: the same in every run
  std::vector<ClassId> results;     // that every run writes: outputs, new values of states
  std::vector<ClassId> host_reads;  // that steps on the host read
  int first_kernel = 0;             // the number that reports give to the plan's first kernel
};

// Every right factor that may be read in panels and comes from weights alone is packed, once per
// order it is read in, but for those of kernels that a library computes. Steps keep their order;
// each new one stands before the first that reads it. Returns a line for the report per weight that
// is held more than once, with the reason.
std::vector<std::string> pack_weights(PlannedGraph& planned, const PackRequest& request);

}  // namespace luminal::kernel
