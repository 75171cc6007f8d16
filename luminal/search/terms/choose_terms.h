// choose_terms: extraction, the cheapest term of each class where nothing else decides.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "luminal/kernel/lower/term_graph.h"
#include "luminal/shape/expr.h"

namespace luminal::search {

// A class may hold terms that read the class itself (x = x + 0). The chosen terms have no cycles:
// the operands of each are settled before it.
struct ChosenTerms {
  static constexpr uint32_t kNever = UINT32_MAX;

  std::vector<int> term;           // by class; −1 where every term needs the class itself
  std::vector<uint32_t> position;  // by class: when it was settled; kNever if it wasn't

  // Whether a class may use another term than the chosen one, whatever safe terms other classes
  // use: everything it reads was settled earlier.
  bool is_safe(kernel::ClassId id, const kernel::Term& term) const;
};

// Minimises work, operands included: loads are free, constants and views nearly so, ops count flops
// per element at `sizes`. Ties go to the lower class and the earlier term.
ChosenTerms choose_terms(const kernel::TermGraph& graph, const Bindings& sizes);

// Whether a term only reindexes another class.
inline bool is_view(const kernel::Term& term) {
  return std::holds_alternative<kernel::ReindexTerm>(term);
}

// The classes that `roots` may read: through the chosen terms, and through all safe views of a
// class that has only views, since the best of those depends on what is stored.
std::vector<bool> reachable(const kernel::TermGraph& graph, const ChosenTerms& chosen,
                            std::span<const kernel::ClassId> roots);

}  // namespace luminal::search
