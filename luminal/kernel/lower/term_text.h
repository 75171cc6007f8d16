// The text of a term graph: a line per class with its type, then one per term.
#pragma once

#include <string>

#include "luminal/kernel/lower/term_graph.h"

namespace luminal::kernel {

//   class c0 : f32[s, 64]
//   class c1 : f32[s, 64]
//   term c0 load 0
//   term c1 exp2 c0
std::string text(const TermGraph& terms);

}  // namespace luminal::kernel
