// RunTimer: times plans by running them.
//
// Kernels are timed in runs of their plan. If the graph is rolled, a run is one trip (iteration) of
// each loop, so a model of thirty layers takes as long as one of four. Each call alternates between
// the first plan and the one to be timed, and divides by the drift of the first plan's time: on a
// shared machine times of different minutes can't be compared. Whole plans run on the whole graph,
// unless memory is short.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "luminal/driver/measure/cache_eviction.h"
#include "luminal/driver/measure/loaded_plans.h"
#include "luminal/kernel/recognise/panels.h"
#include "luminal/search/measured/measured_search.h"

namespace luminal {

struct TimerOptions {
  int warm_ups = 2;
  int trials = 15;
  uint64_t seed = 1;  // of the values that kernels are timed on
};

class RunTimer : public search::PlanTimer {
 public:
  // All must outlive it. `graph` and `roots` are the whole graph's.
  RunTimer(const search::SearchedTerms& terms, const Graph& graph, const std::vector<NodeId>& roots,
           const backends::Backend& backend, backends::LoadOptions load,
           const TimerOptions& options);

  std::vector<std::optional<records::KernelRecord>> time_kernels(const kernel::Plan& plan,
                                                                 const std::vector<bool>& wanted,
                                                                 double seconds) override;
  records::Comparison compare(const kernel::Plan& champion, const kernel::Plan& challenger,
                              double seconds) override;

 private:
  // Takes the graph and the plan out of `terms`.
  std::shared_ptr<const kernel::PlannedGraph> prepared(search::PlannedTerms& terms,
                                                       const Graph& graph,
                                                       const std::vector<NodeId>& roots) const;
  search::PlannedTerms with_plan(const kernel::Plan& plan) const;
  void check(LoadedPlans& loaded, const std::shared_ptr<const kernel::PlannedGraph>& planned,
             const search::PlannedTerms& terms, const std::vector<bool>& wanted);
  const RunnableGraph& whole();
  bool whole_fits() const;
  double base_drift(const std::vector<double>& base_runs);

  const search::SearchedTerms& terms_;
  const Graph& graph_;
  const std::vector<NodeId>& roots_;
  const backends::Backend& backend_;
  const backends::LoadOptions load_;
  const TimerOptions options_;
  std::vector<NodeId> stands_for_;  // by leaf of the lowered graph
  RunnableGraph lowered_;           // one trip of each loop
  double graph_elements_ = 0;       // that interpreting it computes
  std::optional<RunnableGraph> whole_;
  CacheEviction eviction_;
  std::unique_ptr<LoadedPlans> base_;  // the first plan
  double base_seconds_ = 0;            // its time when first measured
  int base_repeats_ = 1;               // runs of one turn
};

}  // namespace luminal
