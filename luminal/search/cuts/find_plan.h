// find_plan: which values to store. The e-graph says what is equal; this says what is best.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "luminal/graph/node.h"
#include "luminal/kernel/lower/term_graph.h"
#include "luminal/kernel/plan/plan.h"
#include "luminal/search/cost/cost_model.h"
#include "luminal/search/policies.h"

namespace luminal::search {

// What the plan must produce, beside kernels' own needs.
struct HostNeed {
  int source;                             // of the term graph: what the host step makes
  std::vector<kernel::ClassId> operands;  // that it reads from memory
};

// Of a rolled graph: what is in which loop; see rolling/plan_loops.h. All empty: nothing is rolled.
struct PlanLoops {
  std::vector<int> loop_of;  // by class: from 1; 0: outside
  std::vector<int> trips;    // by loop; trips[0] is 1
  std::vector<int> loop_of_source;
  // By source: the values of other loops, or outside of loops, that a marker stands for.
  std::vector<std::vector<kernel::ClassId>> behind;

  int of(kernel::ClassId id) const { return loop_of.empty() ? 0 : loop_of[id.index()]; }
  // How often a kernel that stores `id` runs.
  int runs(kernel::ClassId id) const {
    return loop_of.empty() ? 1 : trips[static_cast<size_t>(of(id))];
  }
  // What it counts when plans are compared: twice in a loop, whatever its trips, so that a model of
  // many layers is planned as one of some.
  int times(kernel::ClassId id) const { return of(id) > 0 ? 2 : 1; }
};

// What was decided about a value of the graph, whatever the model says; see fusion/force_fusion.h.
struct FusionForce {
  NodeId node;
  bool stored = false;  // else it is computed by whoever reads it
};

struct PlanRequest {
  std::vector<kernel::ClassId> stored;      // must be in memory at the end
  std::vector<HostNeed> host_steps;         // in an order that their data allows
  std::vector<kernel::ClassId> boundaries;  // stored, and read from there by other kernels alone
  PlanLoops loops = {};
  // Decided before the search, as far as the plan needs them at all:
  std::vector<kernel::ClassId> apart = {};   // boundaries as well
  std::vector<kernel::ClassId> inside = {};  // not stored, unless they must be or no kernel can
                                             // hold them
};

// What kernels take, where somebody knows better than the model.
class KnownCosts {
 public:
  virtual ~KnownCosts() = default;
  virtual double seconds(const kernel::LoweredKernel& lowered) const = 0;
};

struct SearchOptions {
  FusionPolicy fusion = FusionPolicy::Modelled;
  MachineModel machine;
  Bindings sizes;  // at which the model is asked; see representative_sizes
  uint64_t seed = 1;
  size_t chain_ops = 128;  // longest run of element-wise ops that is one question; long_chains.h
  size_t thorough_up_to = 64;  // live bits; larger graphs are planned from one start
  int starts = 3;              // of a thorough search: orders of moves from each first choice
  uint64_t order = 0;          // of moves: 0 is the graph's own, others are shuffled
  bool sideways = true;        // kernels over the same outer points become one; see merge_kernels
  kernel::StageLimits limits;
  const KnownCosts* costs = nullptr;  // what was measured; null: the model's alone
  std::function<void(int candidates)> progress = nullptr;  // after each plan tried
};

// A value that was to be inside of its readers, and the limit in the way.
struct NotHeld {
  kernel::ClassId value;
  std::string why;
};

struct SearchReport {
  int candidates = 0;                  // plans whose cost was computed
  int distinct_kernels = 0;            // lowered and costed
  int live_bits = 0;                   // classes that may be stored or not
  std::vector<std::string> notes;      // what could not be fused, and why
  std::vector<NotHeld> not_held = {};  // of PlanRequest::inside
};

struct FoundPlan {
  kernel::Plan plan;      // of a rolled graph: steps are there once, and count as PlanLoops says
  std::vector<bool> cut;  // by class
  SearchReport report;
};

// The same request, options and graph give the same plan, byte for byte. A graph without a plan is
// an internal error that names the class and the reason.
FoundPlan find_plan(const kernel::TermGraph& graph, const PlanRequest& request,
                    const SearchOptions& options);

// The best over all choices of cuts, by trying each: for tests of the search on small graphs.
// Throws UserError above 20 live bits.
FoundPlan find_plan_by_force(const kernel::TermGraph& graph, const PlanRequest& request,
                             const SearchOptions& options);

// Some plan, by the options' seed, good or not: every one that can be found must be right, and
// tests look at many.
FoundPlan random_plan(const kernel::TermGraph& graph, const PlanRequest& request,
                      const SearchOptions& options);

}  // namespace luminal::search
