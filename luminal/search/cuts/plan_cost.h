// The cost of a choice of cuts: its kernels, of which each form is lowered once, and whether they
// are a valid plan.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "luminal/search/cuts/cones.h"
#include "luminal/search/cuts/find_plan.h"
#include "luminal/search/cuts/long_chains.h"
#include "luminal/search/terms/choose_terms.h"
#include "luminal/search/terms/term_choices.h"

namespace luminal::search {

// Why there is no plan where classes read themselves through their terms.
inline constexpr const char* kTermsInACycle = "terms read each other in a cycle";

// By the options' costs, or by the model where there are none.
double kernel_seconds(const kernel::LoweredKernel& lowered, const SearchOptions& options);

// A kernel with its best outer loops.
struct CostedKernel {
  std::optional<kernel::LoweredKernel> lowered;  // nullopt: see `why`
  double seconds = 0;
  std::string why;
};

// Whether a kernel that reads weights alone counts as one that runs once. A clock may find that a
// wider format pays; the model doesn't spend memory on it.
bool may_count_once(const kernel::Kernel& kernel, const SearchOptions& options);
// What such a kernel costs a run. It has to be compiled and its result kept, so it isn't free.
double seconds_if_once(double seconds);

// A kernel of a whole plan, with its own classes.
struct NamedKernel : CostedKernel {
  double charged = 0;  // what the plan pays for it: less than `seconds` if it runs once
};

// The kernels that a choice of cuts and terms needs, by what they store.
struct CostedPlan {
  double seconds = 0;
  std::map<kernel::ClassId, const NamedKernel*> kernels;
  std::string why;  // not empty: there is no plan
};

// What the kernels of all cones of one form share. `lowered` refers to the classes of the first
// such cone.
struct KernelForm : CostedKernel {
  std::vector<kernel::ClassId> classes;  // of that cone
  std::vector<uint32_t> reads;           // positions in the cone: the stored values it reads
  std::vector<uint32_t> inputs;          // those, and the sources
  bool may_run_once = false;             // if all inputs are weights
  bool is_elementwise = false;           // nothing in it is reduced or scanned
};

// A kernel of a plan: its form, and the class at each position of the form.
struct PlacedKernel {
  const KernelForm* form;
  std::vector<kernel::ClassId> classes;
  double seconds = 0;  // what the plan pays for it
};

class PlanCost {
 public:
  PlanCost(const kernel::TermGraph& graph, const PlanRequest& request,
           const SearchOptions& options);

  // Classes for which storing is a choice, in order.
  const std::vector<kernel::ClassId>& live() const { return live_; }
  bool is_live(kernel::ClassId id) const { return is_live_[id.index()]; }
  // Classes of which the term is a choice too, and their terms.
  const TermChoices& terms() const { return terms_; }
  // Cuts that are not a choice, wherever a plan needs the class.
  const std::vector<bool>& forced() const { return forced_; }
  // What every plan computes.
  bool is_required(kernel::ClassId id) const { return required_[id.index()]; }
  // Those that aren't in memory already.
  const std::vector<kernel::ClassId>& roots() const { return roots_; }

  // Where long runs of element-wise ops are split, sorted: forced as well.
  const std::vector<kernel::ClassId>& chain_ends() const { return chain_ends_; }

  // Limits of a kernel; tighter in a large graph.
  const kernel::StageLimits& limits() const { return limits_; }

  // The term that computes a class at first. The search may take another; for a class with only
  // views, best_term() depends on the cuts.
  const kernel::Term& term_of(kernel::ClassId id) const {
    return graph_.at(id).terms[static_cast<size_t>(chosen_.term[id.index()])];
  }

  // The weight of the kernel of `root` in a plan's time: see PlanLoops.
  int times(kernel::ClassId root) const { return loops_.times(root); }

  // The plan of a choice; of cuts alone, with the terms that classes have at first.
  CostedPlan cost(const kernel::Choice& choice);
  CostedPlan cost(const std::vector<bool>& cut) { return cost(choice_for(cut)); }
  PlacedKernel place(kernel::ClassId root, const kernel::Choice& choice);
  // The kernel that stores `root`, with each choice of its outer loops that can be lowered.
  std::vector<kernel::LoweredKernel> variants(kernel::ClassId root,
                                              const kernel::Choice& choice) const;
  int distinct_kernels() const { return static_cast<int>(forms_.size()); }

  kernel::Choice choice_for(const std::vector<bool>& cut) const {
    return choice_for(cut, chosen_.term);
  }
  // `term` is by class; it decides for those that have a choice.
  kernel::Choice choice_for(const std::vector<bool>& cut, const std::vector<int>& term) const;
  int best_term(kernel::ClassId id, const std::vector<bool>& cut) const;
  // Classes whose best term depends on whether `id` is cut.
  const std::vector<kernel::ClassId>& chosen_by(kernel::ClassId id) const;
  // Whether readers may compute it again although it is stored.
  bool may_be_computed_again(kernel::ClassId id) const { return may_be_again_[id.index()]; }
  // Whether some move can change a kernel that has this class in its cone.
  bool may_change(kernel::ClassId id) const { return may_change_[id.index()]; }

 private:
  void find_live(const PlanRequest& request, const std::vector<bool>& seen);
  void find_again(const PlanRequest& request);
  void force_reads(kernel::ClassId id, const kernel::Term& term);
  void split_chains(const std::vector<bool>& needed, std::vector<bool>& inside);
  kernel::WalkLimits walk_limits(kernel::ClassId root) const;
  CostedKernel lower(kernel::ClassId root, const kernel::Choice& choice) const;
  Result<kernel::Instances> instances_of(kernel::ClassId root, const kernel::Choice& choice) const;
  Result<kernel::LoweredKernel> staged(kernel::ClassId root, const kernel::Instances& instances,
                                       int n_outer) const;
  KernelForm make_form(const Cone& cone, const kernel::Choice& choice) const;
  NamedKernel renamed(const PlacedKernel& kernel) const;
  double charged(kernel::ClassId root, const PlacedKernel& kernel) const;
  bool may_be_stored(kernel::ClassId id) const;
  kernel::SourceId source_of(kernel::ClassId id) const;
  bool is_source(kernel::ClassId id) const { return source_of(id).valid(); }

  struct FormHash {
    size_t operator()(const std::vector<uint32_t>& form) const;
  };

  const kernel::TermGraph& graph_;
  const PlanLoops& loops_;
  const WeightFacts& weights_;
  const SearchOptions& options_;
  std::vector<kernel::ClassId> live_;
  std::vector<bool> is_live_;
  std::vector<bool> forced_, required_;
  std::vector<kernel::ClassId> roots_;
  std::vector<kernel::ClassId> chain_ends_;
  std::vector<bool> holds_piece_;  // by class: its kernel holds a piece of a long chain
  kernel::StageLimits limits_;
  ChosenTerms chosen_;  // by class: the term with the fewest flops
  TermChoices terms_;
  std::vector<kernel::ClassId> flexible_;  // classes whose best term depends on what is cut
  std::map<kernel::ClassId, std::vector<kernel::ClassId>> chosen_by_;  // flexible ones, by base
  std::vector<bool> may_be_again_;
  std::vector<bool> may_change_;
  ConeReader cones_;
  std::unordered_map<std::vector<uint32_t>, std::unique_ptr<KernelForm>, FormHash> forms_;
  KernelForm too_large_;
  // Kernels with their own classes, for whole plans.
  std::map<std::pair<const KernelForm*, std::vector<kernel::ClassId>>, NamedKernel> kernels_;
};

}  // namespace luminal::search
