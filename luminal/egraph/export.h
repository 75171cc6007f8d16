// Export options: the whole e-graph, or the neighbourhood of one class, as JSON or Graphviz.
#pragma once

#include "luminal/egraph/value.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace luminal::egraph {

// The export itself says what it leaves out, and which option shows it.
struct ExportOptions {
  std::optional<Value> around = {};  // a value of an equality sort; without one, all classes
  uint32_t radius = 2;               // maximum steps from class to class, starting at `around`
  bool parents = true;               // also step from arguments to the terms that use them
  size_t shown_nodes = 10'000;       // maximum: nearest first, else in the order of creation
};

}  // namespace luminal::egraph
