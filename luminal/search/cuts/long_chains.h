// split_long_chains: where a long run of element-wise ops is cut into kernels of a bounded size.
//
// Fusing a run of element-wise ops always pays by the model, so nothing else bounds it; but the
// search lowers a kernel again for each op that it takes in, and compiling one takes time in
// proportion to its ops. Beyond some tens of ops a kernel is bound by arithmetic and gains nothing
// from being longer. Runs up to `most_ops` are left to the search. Longer ones are decided here, in
// time linear in the graph:
//
//   x1 = x0 + f(x0)   x2 = x1 + f(x1)   …   x99 = x98 + f(x98)
//   └── a piece: only x16 is read later ──┘└── the next ──┘
//
// Pieces end where the fewest values are read later. Those values are stored, and what only one of
// them needs is computed inside of its kernel.
#pragma once

#include <vector>

#include "luminal/kernel/lower/term_graph.h"
#include "luminal/search/terms/choose_terms.h"

namespace luminal::search {

struct ChainPieces {
  std::vector<kernel::ClassId> ends;    // stored; kernels on either side stay apart
  std::vector<kernel::ClassId> inside;  // computed by the one kernel that needs them
  std::vector<kernel::ClassId> roots;   // what those kernels store
};

// By class: `needed` are those of the plan, `stored` those that are in memory whatever happens.
ChainPieces split_long_chains(const kernel::TermGraph& graph, const ChosenTerms& chosen,
                              const std::vector<bool>& needed, const std::vector<bool>& stored,
                              size_t most_ops);

}  // namespace luminal::search
