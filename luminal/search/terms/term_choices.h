// TermChoices: the classes of which the search chooses the term, and which choices have no cycle.
//
// For example (A·B)·v and A·(B·v) are two terms of one class. Each reads a product that the other
// doesn't need, so the choice decides which values a plan computes at all. Terms may also read each
// other, as x = 1 / y and y = 1 / x do; one of the two must then be computed in another way.
#pragma once

#include <span>
#include <vector>

#include "luminal/kernel/lower/term_graph.h"
#include "luminal/search/terms/choose_terms.h"

namespace luminal::search {

// What a plan needs if every class has its chosen term.
struct NeededClasses {
  const std::vector<bool>& seen;    // by class
  const std::vector<bool>& stored;  // in memory, whatever the search chooses
  // Results of host steps that the plan leaves out, so that no term may read them.
  std::span<const kernel::SourceId> absent;
};

class TermChoices {
 public:
  static constexpr size_t kMostTerms = 8;  // of a class; later ones are left out

  TermChoices() = default;
  TermChoices(const kernel::TermGraph& graph, const ChosenTerms& chosen,
              const NeededClasses& needed);

  // The classes that have a choice, in order.
  const std::vector<kernel::ClassId>& open() const { return open_; }
  // Of such a class: its terms, in order, the chosen one among them. Empty for other classes.
  const std::vector<int>& of(kernel::ClassId id) const;
  // Leaves a class one of its terms.
  void fix(kernel::ClassId id, int term);
  // The classes that a plan may need, by any of the choices.
  const std::vector<bool>& reached() const { return reached_; }
  // Classes of which some terms were left out.
  int n_capped() const { return n_capped_; }

  // Whether a class reads itself through the terms that `term` gives each class. Only cycles
  // through `changed` are found: a choice without cycles stays so where it doesn't change.
  bool has_cycle(const std::vector<int>& term, std::span<const kernel::ClassId> changed) const;
  // The same for all classes.
  bool has_cycle(const std::vector<int>& term) const;

 private:
  struct Finder;

  const kernel::TermGraph* graph_ = nullptr;
  std::vector<kernel::ClassId> open_;
  std::vector<uint32_t> place_;          // by class: its number in terms_, from 1
  std::vector<std::vector<int>> terms_;  // of each open class
  std::vector<bool> reached_;
  int n_capped_ = 0;
  // Classes that can read each other have equal numbers; 0 for those that can't be in a cycle.
  std::vector<uint32_t> knot_;
  std::vector<kernel::ClassId> knotted_;
};

// Loads, constants and index values: terms that cost nothing.
bool costs_nothing(const kernel::Term& term);

}  // namespace luminal::search
