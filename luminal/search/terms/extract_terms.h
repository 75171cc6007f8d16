// From a saturated e-graph to the classes that lowering and plan search work on.
#pragma once

#include <string>
#include <vector>

#include "luminal/kernel/lower/term_graph.h"
#include "luminal/search/terms/lower_graph.h"
#include "luminal/search/terms/terms.h"

namespace luminal::search {

struct ExtractedTerms {
  kernel::TermGraph graph;
  std::vector<kernel::ClassId> class_of;        // by node id of the graph; not valid if unused
  std::vector<std::vector<std::string>> rules;  // by class: the rules that made or joined its terms
};

// All Value classes, without custom ops that a rule replaces, and without terms that read their own
// class. Two terms of one class with different types, or an ill-formed term, are an error that
// names the rule behind it: a UserError if it is the user's.
ExtractedTerms extract_terms(const Graph& graph, const LoweredGraph& lowered, Terms& terms);

}  // namespace luminal::search
