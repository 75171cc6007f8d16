// find_plan: chooses the values to store (the cuts) and which of equal terms computes a value, and
// so the kernels. The e-graph says what is equal; this says what is best.
//
// A cut class is materialised by a kernel of its own; any other value is computed inside each
// kernel that needs it. For example a = exp(x), s = sum(a), y = a / s, where y is a result:
//
//   cuts {y}         one kernel: reads x once, computes a twice or keeps it in a local buffer
//   cuts {s, y}      two kernels: both read x and compute a
//   cuts {a, s, y}   three kernels: a is written once and read twice
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
#include "luminal/search/terms/weight_facts.h"

namespace luminal::search {

// What the plan must produce, beside kernels' own needs.
struct HostNeed {
  kernel::SourceId source;                // of the term graph: what the host step computes
  std::vector<kernel::ClassId> operands;  // that it reads from memory
};

// Of a rolled graph: what is in which loop; see rolling/plan_loops.h. All empty: nothing is rolled.
struct PlanLoops {
  std::vector<int> loop_of;  // by class: from 1; 0: outside
  std::vector<int> trips;    // by loop; trips[0] is 1
  IdVector<kernel::SourceId, int> loop_of_source;
  // The values of other loops, or outside of loops, that a marker stands for.
  IdVector<kernel::SourceId, std::vector<kernel::ClassId>> behind;

  int of(kernel::ClassId id) const { return loop_of.empty() ? 0 : loop_of[id.index()]; }
  // How often a kernel that stores `id` runs.
  int runs(kernel::ClassId id) const {
    return loop_of.empty() ? 1 : trips[static_cast<size_t>(of(id))];
  }
  // Its weight when plans are compared: 2 in a loop, whatever the trip count, so that a model of
  // many layers is planned like one of a few.
  int times(kernel::ClassId id) const { return of(id) > 0 ? 2 : 1; }
};

// A decision about a value of the graph that overrides the model; see fusion/force_fusion.h.
struct FusionForce {
  NodeId node;
  bool stored = false;  // else it is computed inside its readers
};

struct PlanRequest {
  std::vector<kernel::ClassId> stored;      // must be in memory at the end
  std::vector<HostNeed> host_steps;         // in topological order
  std::vector<kernel::ClassId> boundaries;  // stored; no kernel is fused across them
  PlanLoops loops = {};
  // What host steps compute that the plan leaves out: no term that reads it is taken.
  std::vector<kernel::SourceId> absent = {};
  // Decided before the search; ignored for classes that the plan doesn't need:
  std::vector<kernel::ClassId> apart = {};   // boundaries as well
  std::vector<kernel::ClassId> inside = {};  // not stored, unless they must be or no kernel can
                                             // hold them
  // Kernels that read weights alone run once, not in each run.
  WeightFacts weights = {};
};

// A class, and the term that computes it from now on.
struct TermFlip {
  kernel::ClassId id;
  int term = 0;
};

// Times of kernels that are better known than by the model.
class KnownCosts {
 public:
  virtual ~KnownCosts() = default;
  virtual double seconds(const kernel::LoweredKernel& lowered) const = 0;
};

struct SearchOptions {
  FusionPolicy fusion = FusionPolicy::Modelled;
  MachineModel machine;
  Bindings sizes;  // at which costs are computed; see representative_sizes
  uint64_t seed = 1;
  size_t chain_ops = 128;      // longest run of element-wise ops that isn't split: long_chains.h
  size_t thorough_up_to = 64;  // live bits; larger graphs are planned from one start
  int starts = 3;              // of a thorough search: orders of moves tried from each start
  uint64_t order = 0;          // of moves: 0 is the graph's own, others are shuffled
  bool again = true;           // stored values may be computed again by a reader
  bool sideways = true;        // kernels over the same outer points become one; see merge_kernels
  std::vector<TermFlip> fixed_terms = {};  // of classes that have a choice; without a cycle
  kernel::StageLimits limits;
  const KnownCosts* costs = nullptr;  // what was measured; null: the model's alone
  std::function<void(int candidates)> progress = nullptr;  // for each plan tried
};

// A value that was to be fused into its readers, and the limit that prevents it.
struct NotHeld {
  kernel::ClassId value;
  std::string why;
};

struct SearchReport {
  int candidates = 0;                  // plans whose cost was computed
  int distinct_kernels = 0;            // lowered and costed
  int live_bits = 0;                   // classes that may be stored or not
  int open_terms = 0;                  // classes of which the term is a choice
  std::vector<std::string> notes;      // what could not be fused, and why
  std::vector<NotHeld> not_held = {};  // of PlanRequest::inside
};

struct FoundPlan {
  kernel::Plan plan;  // of a rolled graph: steps are there once, and count as PlanLoops says
  kernel::Choice choice;
  SearchReport report;
};

// The same request, options and graph give the same plan, byte for byte. A graph without a plan is
// an internal error that names the class and the reason.
FoundPlan find_plan(const kernel::TermGraph& graph, const PlanRequest& request,
                    const SearchOptions& options);

// The best of all choices of cuts and terms, by exhaustive search: for tests of the search on small
// graphs. UserError above 2^20 choices.
FoundPlan find_plan_by_force(const kernel::TermGraph& graph, const PlanRequest& request,
                             const SearchOptions& options);

// A random plan by the options' seed, good or not: every plan must compute correct results, and
// tests try many.
FoundPlan random_plan(const kernel::TermGraph& graph, const PlanRequest& request,
                      const SearchOptions& options);

}  // namespace luminal::search
