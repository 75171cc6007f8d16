// plan_key: everything that a plan depends on, as bytes: equal bytes give equal plans.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "luminal/backends/backend_options.h"
#include "luminal/graph/graph.h"
#include "luminal/kernel/recognise/panels.h"
#include "luminal/search/inspect/inspection.h"

namespace luminal {

// What a plan is made for.
struct PlanPlace {
  std::string backend;
  std::string target;  // as the backend describes it
  std::string device;  // a fingerprint of records/device.h
};
PlanPlace place_of(const BackendOptions& options);

struct PlanQuestion {
  PlanPlace place;
  const Graph& graph;  // without custom ops: their code can't be compared
  const std::vector<NodeId>& roots;
  const search::PlanningOptions& planning;
  std::optional<kernel::Packing> packing;
  bool explained = false;    // whether the report explains stored values
  bool with_rivals = false;  // and alternatives
  size_t first_kernel = 0;   // the number that reports give to the plan's first kernel
};

// The place; the graph with its node ids, since a plan names nodes by them; the options; and the
// sources of the compiler. Data of weights is not part of it: no plan depends on it.
std::string plan_key(const PlanQuestion& question);

}  // namespace luminal
