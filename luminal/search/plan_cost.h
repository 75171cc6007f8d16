// The cost of a choice of cuts: its kernels, lowered once each, and whether they make a plan at
// all.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/search/find_plan.h"

namespace luminal::search {

// A kernel with its best outer loops.
struct CostedKernel {
  std::optional<kernel::LoweredKernel> lowered;  // none: `why` says so
  double seconds = 0;
  std::string why;
};

// The kernels that a choice of cuts needs, by what they store.
struct CostedPlan {
  double seconds = 0;
  std::map<kernel::ClassId, const CostedKernel*> kernels;
  std::string why;  // not empty: no plan
};

class PlanCost {
 public:
  PlanCost(const kernel::TermGraph& graph, const PlanRequest& request,
           const SearchOptions& options);

  // Classes for which storing is a choice, in order.
  const std::vector<kernel::ClassId>& live() const { return live_; }
  // Cuts that are not a choice.
  const std::vector<bool>& forced() const { return forced_; }
  // With `before`, the plan of cuts that differ in `changed` alone: kernels that neither compute
  // nor read what changed are taken over as they are.
  CostedPlan cost(const std::vector<bool>& cut, const CostedPlan* before = nullptr,
                  std::span<const kernel::ClassId> changed = {});
  // The kernel that stores `root`, with each choice of its outer loops that can be lowered.
  std::vector<kernel::LoweredKernel> variants(kernel::ClassId root,
                                              const std::vector<bool>& cut) const;
  int distinct_kernels() const { return static_cast<int>(kernels_.size()); }

 private:
  kernel::Choice choice_for(const std::vector<bool>& cut) const;
  const CostedKernel& kernel_for(kernel::ClassId root, const kernel::Choice& choice);
  CostedKernel lower(kernel::ClassId root, const kernel::Choice& choice) const;
  Result<kernel::Instances> instances_of(kernel::ClassId root, const kernel::Choice& choice) const;
  std::vector<uint32_t> cone(kernel::ClassId root, const kernel::Choice& choice) const;
  int best_term(kernel::ClassId id, const std::vector<bool>& cut) const;
  bool is_source(kernel::ClassId id) const;

  const kernel::TermGraph& graph_;
  const SearchOptions& options_;
  std::vector<kernel::ClassId> live_;
  std::vector<bool> forced_;
  std::vector<int> first_terms_;           // by class: the best term, whatever is cut
  std::vector<kernel::ClassId> flexible_;  // classes whose best term depends on what is cut
  std::map<std::vector<uint32_t>, std::unique_ptr<CostedKernel>> kernels_;
};

}  // namespace luminal::search
