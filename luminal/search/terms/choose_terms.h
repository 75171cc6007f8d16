// choose_terms: the term that computes each class where nothing else decides.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "luminal/kernel/lower/term_graph.h"
#include "luminal/shape/expr.h"

namespace luminal::search {

// A class may hold terms that read the class itself (x = x + 0). The terms chosen don't: the
// operands of each are settled before it.
struct ChosenTerms {
  static constexpr uint32_t kNever = UINT32_MAX;

  std::vector<int> term;           // by class; −1 where every term needs the class itself
  std::vector<uint32_t> position;  // by class: when it was settled; kNever likewise

  // Whether a term of a class may be chosen instead of the first choice, with any such choice
  // elsewhere: what it reads was settled earlier.
  bool is_safe(kernel::ClassId id, const kernel::Term& term) const;
};

// The least work, operands included: loads are free, constants and views nearly so, ops count
// flops per element at `sizes`. Ties go to the lesser class and the earlier term.
ChosenTerms choose_terms(const kernel::TermGraph& graph, const Bindings& sizes);

// Where a class may be computed from: its own ops come before views of others.
inline bool is_view(const kernel::Term& term) {
  return std::holds_alternative<kernel::ReindexTerm>(term);
}

// The classes that `roots` may read: through the chosen terms, and through all safe views of a
// class that has nothing else, since which of those is best depends on what is stored.
std::vector<bool> reachable(const kernel::TermGraph& graph, const ChosenTerms& chosen,
                            std::span<const kernel::ClassId> roots);

}  // namespace luminal::search
