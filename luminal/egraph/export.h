// Export: the e-graph, or what lies around one of its classes, for other programs and for the eye.
#pragma once

#include "luminal/egraph/value.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace luminal::egraph {

// What is left out is said in the export itself, with the option that shows it.
struct ExportOptions {
  std::optional<Value> around = {};  // a value of an equality sort; without one all classes
  uint32_t radius = 2;               // how many steps from class to class away from `around`
  bool parents = true;               // steps from arguments to the terms they stand in, too
  size_t shown_nodes = 10'000;       // at most: nearest first, else in the order they were made
};

}  // namespace luminal::egraph
