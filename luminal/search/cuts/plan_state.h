// PlanState: the kernels of a choice of cuts and terms, updated incrementally while it changes. A
// move costs what it changes, not the size of the plan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "luminal/search/cuts/plan_cost.h"

namespace luminal::search {

// What one step of the search changes.
struct Move {
  std::vector<kernel::ClassId> cuts;  // toggled
  std::vector<TermFlip> terms = {};
  std::vector<kernel::Use> uses = {};  // toggled: computed again by that kernel, or read
};

class PlanState {
 public:
  // The plan of `cut`. If there is none, why() gives the reason, and only copying and comparing are
  // valid.
  PlanState(PlanCost& cost, const kernel::Choice& choice);
  PlanState(PlanCost& cost, const std::vector<bool>& cut) : PlanState(cost, cost.choice_for(cut)) {}

  const std::string& why() const { return why_; }
  double seconds() const { return seconds_; }
  int n_kernels() const { return n_kernels_; }
  // Faster by more than noise, or as fast with fewer kernels; any plan is better than none.
  bool better_than(const PlanState& other) const;

  const kernel::Choice& choice() const { return choice_; }
  const std::vector<bool>& cut() const { return choice_.cut; }
  int term(kernel::ClassId id) const { return choice_.term[id.index()]; }
  bool is_cut(kernel::ClassId id) const { return choice_.cut[id.index()]; }
  // What the plan stores, in order.
  std::vector<kernel::ClassId> stored() const;
  // The stored values that the kernel of `root` reads.
  std::vector<kernel::ClassId> reads(kernel::ClassId root) const;
  // Stored values that a kernel reads and could as well compute again: cheap ones, that something
  // else needs in memory; and those that kernels do compute again.
  std::vector<kernel::Use> uses() const;

  // Whether a kernel computes or reads it. Known of the classes that PlanCost::may_change() names.
  bool is_computed(kernel::ClassId id) const {
    return kernels_[id.index()] || !kernels_with_[id.index()].empty();
  }

  // Makes a move and keeps it if the plan gets better. Cuts that no kernel needs any more are
  // cleared: they would only confuse later moves.
  bool improve(const Move& move);
  // Makes a move, for better or worse. False if there is no such plan; then nothing changes.
  bool take(const Move& move);

  // The time of the plan after a move; the state doesn't change.
  struct Rival {
    double seconds = 0;
    std::string why;  // not empty: there is no such plan
  };
  Rival rival(const Move& move);

  // A clock that counts accepted moves. A move has the same effect as before if the kernels of its
  // bits haven't changed since.
  uint64_t now() const { return now_; }
  uint64_t changed_at(kernel::ClassId id) const { return changed_at_[id.index()]; }

 private:
  using Slot = std::optional<PlacedKernel>;

  bool attempt(const Move& move);
  void keep();
  bool needed(kernel::ClassId id) const;
  void flip(kernel::ClassId id);
  void flip(const TermFlip& flip);
  void flip(const kernel::Use& use);
  void change_term(kernel::ClassId id, int term);
  bool reads_itself();
  void place(kernel::ClassId root, PlacedKernel kernel);
  void remove(kernel::ClassId root);
  bool settle();
  void drop_unread();
  std::vector<kernel::ClassId> changed_roots() const;
  bool clear_unread(std::span<const kernel::ClassId> roots);
  bool is_improvement() const;
  void touch(const PlacedKernel& kernel);
  void undo(double seconds);

  PlanCost* cost_;
  kernel::Choice choice_;
  std::vector<Slot> kernels_;                               // by what they store
  std::vector<int> n_readers_;                              // by class: kernels that read it
  std::vector<std::vector<kernel::ClassId>> kernels_with_;  // by class that may change: their roots
  double seconds_ = 0;
  int n_kernels_ = 0;  // weighted by PlanCost::times
  std::string why_;
  uint64_t now_ = 1;
  std::vector<uint64_t> changed_at_;

  // The current move: what to lower again, and how to undo it.
  std::vector<kernel::ClassId> outdated_, unread_;
  std::map<kernel::ClassId, Slot> before_;
  std::vector<kernel::ClassId> flipped_;
  std::vector<TermFlip> terms_before_;
  std::vector<kernel::Use> uses_flipped_;
  std::vector<kernel::ClassId> other_terms_;  // since the last check for cycles
};

}  // namespace luminal::search
